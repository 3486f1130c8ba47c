import Audio
import PipelineModel
import Platform
import SoundEngine
import Speech

/// Kept sound as recognisers want it: 16 kHz, one channel, 16 bits, read and converted piece by
/// piece, so that hours take no more memory than seconds.
struct SpeechReader: SpeechSource {
  /// What recognisers take.
  static let sampleRate = Hertz(16_000)
  /// Frames that are converted before a piece, so that the filter has settled where it begins, in
  /// frames (10 ms).
  private static let lead = 10

  let frameCount: Int
  private let sound: PCMArtifact
  private let channel: Int?

  /// Reads all channels as one, or one of them.
  init(_ sound: PCMArtifact, channel: Int? = nil) {
    self.sound = sound
    self.channel = channel
    let frames = sound.outline.frames ?? .zero
    frameCount = Int(Double(frames.count) * 100 / sound.outline.format.sampleRate.value)
  }

  func read(_ place: Range<Int>) throws(SpoolError) -> [Int16] {
    let start = max(0, place.lowerBound - Self.lead)
    let skipped = (place.lowerBound - start) * LevelTrace.step
    let count = place.count * LevelTrace.step
    var samples: [Int16] = []
    samples.reserveCapacity(skipped + count)
    try convert(from: start) { block in
      samples.add(block)
      return samples.count < skipped + count
    }
    samples.removeFirst(min(skipped, samples.count))
    if samples.count < count { samples += Array(repeating: 0, count: count - samples.count) }
    return Array(samples.prefix(count))
  }

  /// How loud the whole is, and where there is speech.
  func survey(
    _ stop: StopRequest
  ) throws(SpoolError) -> (trace: LevelTrace, activity: VoiceActivity) {
    var trace = LevelTrace()
    var activity = VoiceActivity()
    var samples: [Int16] = []
    try convert(from: 0, stop) { block in
      samples.removeAll(keepingCapacity: true)
      samples.add(block)
      trace.add(samples.span)
      activity.add(samples.span)
      return true
    }
    return (trace, activity)
  }

  /// Converts the sound from some place on, until it ends or `take` wants no more.
  private func convert(
    from frame: Int, _ stop: StopRequest? = nil, _ take: (borrowing AudioBuffer) -> Bool
  ) throws(SpoolError) {
    let format = sound.outline.format
    let start = Frames(Int(Double(frame) * format.sampleRate.value / 100))
    let source = try sound.open(at: start)
    let single = AudioFormat(sampleRate: format.sampleRate, channelCount: 1)
    let resampler = Resampler(to: Self.sampleRate, quality: .quick, format: single)
    let length = Frames(16_384)
    var input = AudioBuffer(channelCount: format.channelCount, capacity: length)
    var mono = AudioBuffer(channelCount: 1, capacity: length)
    var output = AudioBuffer(channelCount: 1, capacity: resampler.blockCapacity(for: length))
    while try source.read(into: &input) {
      try stop?.check()
      mix(input, into: &mono)
      resampler.process(mono, into: &output)
      guard take(output) else { return }
    }
    var rest = AudioBuffer(channelCount: 1, capacity: resampler.capacity(for: .zero))
    resampler.finish(into: &rest)
    _ = take(rest)
  }

  /// The mean of all channels, or the one that is wanted.
  private func mix(_ input: borrowing AudioBuffer, into mono: inout AudioBuffer) {
    mono.frameCount = input.frameCount
    var target = mono.mutableChannel(0)
    let channels = channel.map { $0..<$0 + 1 } ?? 0..<input.channelCount
    for (number, index) in channels.enumerated() {
      let samples = input.channel(index)
      for frame in 0..<input.frameCount.count {
        let value = samples[frame] / Float(channels.count)
        target[frame] = number == 0 ? value : target[frame] + value
      }
    }
  }
}

extension [Int16] {
  /// Adds the first channel of a block.
  fileprivate mutating func add(_ block: borrowing AudioBuffer) {
    let channel = block.channel(0)
    for index in 0..<block.frameCount.count {
      append(Int16(Swift.max(-32768, Swift.min(32767, (channel[index] * 32768).rounded()))))
    }
  }
}

/// The channels of a recording as they are listened to: all as one, or each by itself, for
/// recordings with a speaker on every side.
struct SpeechChannels {
  /// What is listened to, in the order of the channels.
  let readers: [SpeechReader]
  /// How loud each is, and where there is speech.
  let surveys: [(trace: LevelTrace, activity: VoiceActivity)]

  /// Looks at the sound of each channel that is to be listened to.
  init(of sound: PCMArtifact, isSeparate: Bool, _ stop: StopRequest) throws(SpoolError) {
    let count = sound.outline.format.channelCount
    readers =
      isSeparate && count > 1
      ? (0..<count).map { SpeechReader(sound, channel: $0) } : [SpeechReader(sound)]
    var surveys: [(trace: LevelTrace, activity: VoiceActivity)] = []
    for reader in readers { surveys.append(try reader.survey(stop)) }
    self.surveys = surveys
  }

  /// Where there is speech, in seconds, on any channel.
  var speech: [Range<Double>] {
    surveys.flatMap(\.activity.stretches).map {
      Double($0.lowerBound) / 100..<Double($0.upperBound) / 100
    }
  }

  /// The name of the speaker on a channel; nil where there is but one.
  func speaker(_ channel: Int) -> String? {
    switch readers.count {
    case 1: nil
    case 2: channel == 0 ? "left" : "right"
    default: "channel \(channel + 1)"
    }
  }
}
