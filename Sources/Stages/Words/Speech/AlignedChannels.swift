import Audio
import Glibc
import PipelineModel
import Platform
import SoundEngine
import Speech
import Transcripts

/// The words of a text, found in all channels of a recording as one, or each speaker's on his own
/// side.
///
/// Who is on which side is heard in the sound of all channels together; then each side is listened
/// to for its own words, without what leaks from the others, so that two people may speak at once. A
/// word that has no clear place on its side stays where it is in all channels together.
struct AlignedChannels {
  /// How far the whole, and then each side, is.
  struct Progress: SpeechProgress {
    var whole = AlignmentProgress()
    var sides: [AlignmentProgress] = []

    var share: Double {
      if sides.isEmpty { return whole.share }
      return (whole.share + sides.reduce(0) { $0 + $1.share } / Double(sides.count)) / 2
    }
  }

  /// What was found.
  struct Outcome {
    /// The words with their times.
    var transcript: Transcript
    /// The share of the spoken words that were heard: 0 to 1.
    var share: Double
    /// How many words were heard that the text does not have.
    var extraWordCount: Int
    /// What the sides of the text's speakers are called; empty where all channels are one.
    var sides: [String: String] = [:]
  }

  private let whole: SpeechChannels
  /// Each channel by itself; nil where they are one.
  private let sides: SpeechChannels?

  /// Looks at the sound.
  init(
    of sound: PCMArtifact, isSeparate: Bool, _ check: () throws(SpoolError) -> Void
  ) throws(SpoolError) {
    whole = try SpeechChannels(of: sound, isSeparate: false, check)
    let isDivided = isSeparate && sound.outline.format.channelCount > 1
    sides = isDivided ? try SpeechChannels(of: sound, isSeparate: true, check) : nil
  }

  /// Whether each channel is listened to by itself.
  var isDivided: Bool { sides != nil }

  /// All channels as one.
  var reader: SpeechReader { whole.readers[0] }

  /// Where there is speech, in seconds, on any channel.
  var speech: [Range<Double>] { (sides ?? whole).speech }

  /// Finds the words of a text.
  /// - Parameters:
  ///   - transcript: the text.
  ///   - words: its words as they are spoken.
  ///   - engine: what listens.
  ///   - last: what earlier work recorded.
  ///   - record: records the progress; ends the work by throwing.
  func align(
    _ transcript: Transcript, _ words: [SpokenWord], with engine: SphinxEngine,
    threadCount: Int, from last: Progress?, record: (Progress) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Outcome {
    let count = sides?.readers.count ?? 0
    var progress = last ?? Progress()
    if progress.sides.count != count {
      progress.sides = Array(repeating: AlignmentProgress(), count: count)
    }
    let found = try engine.align(
      words, in: whole.readers[0], whole.surveys[0].trace, threadCount: threadCount,
      from: progress.whole
    ) { (own) throws(SpoolError) in
      progress.whole = own
      try record(progress)
    }
    guard let sides else {
      return Outcome(
        transcript: transcript.timed(by: found, spoken: words), share: found.share,
        extraWordCount: found.extraWordCount)
    }
    let voices = VoiceSides(of: transcript, at: found.words, in: sides.surveys.map(\.trace))
    let leaked = LeakedSpeech(
      at: found.words, on: voices.channels, in: sides.surveys.map(\.trace))
    let together = transcript.words.timed(by: found, spoken: words)
    var timed = transcript.words
    var heardCount = 0
    var extraWordCount = 0
    for channel in 0..<count {
      let own = timed.indices.filter { voices.channels[$0] == channel }
      let spoken = own.map { words[$0] }
      guard spoken.contains(where: \.isSpoken) else { continue }
      let side = try leaked.removed(
        from: sides.readers[channel], sides.surveys[channel].trace, channel: channel)
      let result = try engine.align(
        spoken, in: side.source, side.trace, threadCount: threadCount,
        from: progress.sides[channel]
      ) { (own) throws(SpoolError) in
        progress.sides[channel] = own
        try record(progress)
      }
      let others = own.map { leaked.allows(found.words[$0], on: channel) ? together[$0] : nil }
      let times = own.map { timed[$0] }.timed(by: result, spoken: spoken, orElse: others)
      for (index, word) in zip(own, times) { timed[index] = word }
      heardCount += times.count { $0.confidence ?? 0 >= VoiceSides.sureness }
      extraWordCount += result.extraWordCount
    }
    let spokenCount = words.count(where: \.isSpoken)
    return Outcome(
      transcript: voices.transcript(transcript, with: timed, name: sides.speaker),
      share: spokenCount == 0 ? 0 : Double(heardCount) / Double(spokenCount),
      extraWordCount: extraWordCount, sides: voices.speakers.compactMapValues(sides.speaker))
  }
}

/// On which channel each word of a text is said, where every side has a speaker of its own.
///
/// All that one speaker says is on the channel on which it is the loudest, and where no name says
/// who speaks, each sentence is.
struct VoiceSides {
  /// The speaker of a word: by name, or an unknown one for each sentence.
  private enum Voice: Hashable {
    case named(String)
    case sentence(Int)
  }

  /// The channel of each word.
  let channels: [Int]
  /// The channels of speakers that the text names.
  let speakers: [String: Int]

  /// What is heard with less confidence says nothing about sides.
  static let sureness = 0.5

  /// Finds the sides.
  ///
  /// Complexity: O(*n*) in the length of the text and the time that its words take.
  ///
  /// - Parameters:
  ///   - transcript: the text.
  ///   - places: where its words are, in the sound of all channels as one.
  ///   - traces: the levels of each channel.
  init(of transcript: Transcript, at places: [AlignedWord], in traces: [LevelTrace]) {
    let voices = Self.voices(of: transcript)
    var shares: [Voice: [Double]] = [:]
    for (voice, place) in zip(voices, places)
    where place.isHeard && place.confidence >= Self.sureness {
      let powers = traces.map { $0.power(from: place.start, to: place.end) }
      let sum = powers.reduce(0, +)
      guard sum > 0 else { continue }
      var share = shares[voice] ?? Array(repeating: 0, count: traces.count)
      for channel in traces.indices { share[channel] += powers[channel] / sum }
      shares[voice] = share
    }
    var known = shares.compactMapValues { share in
      share.indices.max { (share[$0], $1) < (share[$1], $0) }
    }
    var free = traces.indices.filter { channel in
      !known.contains { if case .named = $0.key { $0.value == channel } else { false } }
    }[...]
    var channels: [Int] = []
    var speakers: [String: Int] = [:]
    for voice in voices {
      if case .named = voice, known[voice] == nil, let channel = free.popFirst() {
        // Who was drowned by the others is on the side without another speaker.
        known[voice] = channel
      }
      // Of whom nothing was heard, nothing is known: he is put with the speaker before.
      let channel = known[voice] ?? channels.last ?? 0
      channels.append(channel)
      if case .named(let name) = voice { speakers[name] = channel }
    }
    self.channels = channels
    self.speakers = speakers
  }

  /// A transcript with timed words, in turns; where it does not say who speaks, the channel does.
  func transcript(
    _ transcript: Transcript, with timed: [TimedWord], name: (Int) -> String?
  ) -> Transcript {
    let isNamed = transcript.segments.flatMap { segment in
      segment.words.map { $0.speaker != nil || segment.speaker != nil }
    }
    var result = transcript
    result.words = timed.indices.map { index in
      var word = timed[index]
      if !isNamed[index] { word.speaker = name(channels[index]) }
      return word
    }
    for index in result.segments.indices {
      result.segments[index].start = result.segments[index].words.compactMap(\.start).min()
      result.segments[index].end = result.segments[index].words.compactMap(\.end).max()
    }
    return result.inTurns
  }

  private static func voices(of transcript: Transcript) -> [Voice] {
    var voices: [Voice] = []
    var sentence = 0
    for segment in transcript.segments {
      sentence += 1
      for word in segment.words {
        if let name = word.speaker ?? segment.speaker {
          voices.append(.named(name))
        } else {
          voices.append(.sentence(sentence))
          if WrittenWords.endsSentence(word.text) { sentence += 1 }
        }
      }
    }
    return voices
  }
}

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
    try convert(from: start, {}) { block in
      samples.add(block)
      return samples.count < skipped + count
    }
    samples.removeFirst(min(skipped, samples.count))
    if samples.count < count { samples += Array(repeating: 0, count: count - samples.count) }
    return Array(samples.prefix(count))
  }

  /// How loud the whole is, and where there is speech.
  func survey(_ check: () throws(SpoolError) -> Void) throws(SpoolError) -> VoiceActivity {
    var activity = VoiceActivity()
    var samples: [Int16] = []
    try convert(from: 0, check) { block in
      samples.removeAll(keepingCapacity: true)
      samples.add(block)
      activity.add(samples.span)
      return true
    }
    return activity
  }

  /// Converts the sound from some place on, until it ends or `take` wants no more.
  private func convert(
    from frame: Int, _ check: () throws(SpoolError) -> Void,
    _ take: (borrowing AudioBuffer) -> Bool
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
      try check()
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
  let surveys: [VoiceActivity]

  /// Looks at the sound of each channel that is to be listened to.
  init(
    of sound: PCMArtifact, isSeparate: Bool, _ check: () throws(SpoolError) -> Void
  ) throws(SpoolError) {
    let count = sound.outline.format.channelCount
    readers =
      isSeparate && count > 1
      ? (0..<count).map { SpeechReader(sound, channel: $0) } : [SpeechReader(sound)]
    surveys = try readers.map { (reader) throws(SpoolError) in try reader.survey(check) }
  }

  /// Where there is speech, in seconds, on any channel.
  var speech: [Range<Double>] {
    surveys.flatMap(\.stretches).map {
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
