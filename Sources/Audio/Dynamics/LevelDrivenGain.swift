/// Computes gains from a stream's level by a gain law and applies them: the common part of gate and
/// compressor.
///
/// Without look-ahead, sound is processed in place; with it, sound is delayed in a ring until its
/// gain is known.
final class LevelDrivenGain<Law: GainLaw> {
  /// The delay in frames.
  let delay: Int
  /// The law of each lane.
  private(set) var lanes: [Law]

  private let detector: LevelDetector
  private let channelCount: Int
  private let values: Scratch<Float>
  private var fresh: AudioBuffer
  /// For each channel, the delayed frames, the oldest at `position`.
  private let ring: Scratch<Float>
  private var position = 0
  /// Frames still to be dropped at the start: the initial silence of the ring.
  private var leading: Int
  /// Frames taken and not yet returned.
  private var pending = 0

  /// With `holdsPeaks`, peaks count for 10 ms: for laws without a hold time of their own.
  init(_ law: Law, _ sidechain: Sidechain, holdsPeaks: Bool, format: AudioFormat) {
    delay = sidechain.lookAheadFrames(at: format.sampleRate)
    leading = delay
    detector = LevelDetector(sidechain, holdsPeaks: holdsPeaks, format: format)
    lanes = Array(repeating: law, count: detector.laneCount)
    channelCount = format.channelCount
    values = Scratch(repeating: 0, count: LevelDetector.chunk * detector.laneCount)
    let room = Frames(delay == 0 ? 0 : LevelDetector.chunk)
    fresh = AudioBuffer(channelCount: channelCount, capacity: room)
    ring = Scratch(repeating: 0, count: delay * channelCount)
  }

  func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    if delay == 0 {
      FiniteSamples.copy(input, into: &output)
      let end = output.frameCount.count
      for start in stride(from: 0, to: end, by: LevelDetector.chunk) {
        treat(&output, start: start, count: min(LevelDetector.chunk, end - start))
      }
    } else {
      output.frameCount = .zero
      var start = 0
      while start < input.frameCount.count {
        let count = roomForFresh(input.frameCount.count - start)
        fresh.frameCount = .zero
        FiniteSamples.append(input, start: start, count: count, to: &fresh)
        start += count
        pending += count
        delayFresh(&output)
      }
    }
  }

  /// Returns the delayed frames, as if silence followed.
  func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    while pending > 0 {
      let count = roomForFresh(leading > 0 ? leading : pending)
      fresh.frameCount = Frames(count)
      for channel in 0..<channelCount {
        unsafe fresh.baseAddress(ofChannel: channel).update(repeating: 0, count: count)
      }
      delayFresh(&output)
    }
  }

  /// How many of `count` frames to take at once: the initial silence ends at a chunk boundary.
  private func roomForFresh(_ count: Int) -> Int {
    let room = min(count, LevelDetector.chunk)
    return leading > 0 ? min(room, leading) : room
  }
}

extension LevelDrivenGain {
  /// Processes up to a chunk of frames in place.
  private func treat(_ block: inout AudioBuffer, start: Int, count: Int) {
    unsafe detector.measure(block, start: start, count: count, into: values.start)
    for lane in lanes.indices {
      let gains = unsafe values.start + lane * LevelDetector.chunk
      for run in stride(from: 0, to: count, by: Law.run) {
        let length = min(Law.run, count - run)
        guard unsafe lanes[lane].replaceLevelsByGains(gains + run, count: length) else { continue }
        for channel in lanes.count == 1 ? 0..<channelCount : lane..<lane + 1 {
          let samples = unsafe block.baseAddress(ofChannel: channel) + (start + run)
          for index in 0..<length { unsafe samples[index] *= gains[run &+ index] }
        }
      }
    }
  }

  /// Pushes `fresh` into the ring and its oldest frames to `output`.
  private func delayFresh(_ output: inout AudioBuffer) {
    let count = fresh.frameCount.count
    unsafe detector.measure(fresh, start: 0, count: count, into: values.start)
    for lane in lanes.indices {
      let statistics = lanes[lane].statistics
      let gains = unsafe values.start + lane * LevelDetector.chunk
      for run in stride(from: 0, to: count, by: Law.run) {
        let length = min(Law.run, count - run)
        if unsafe !lanes[lane].replaceLevelsByGains(gains + run, count: length) {
          unsafe (gains + run).update(repeating: 1, count: length)
        }
      }
      // Gains before the first frame do not count.
      if leading > 0 { lanes[lane].statistics = statistics }
    }
    let offset = output.frameCount.count
    let isGiven = leading == 0
    if isGiven { output.frameCount += Frames(count) }
    for channel in 0..<channelCount {
      let gains = unsafe values.start + (lanes.count == 1 ? 0 : channel * LevelDetector.chunk)
      let source = unsafe fresh.baseAddress(ofChannel: channel)
      let waiting = unsafe ring.start + channel * delay
      var place = position
      if isGiven {
        let target = unsafe output.baseAddress(ofChannel: channel) + offset
        for index in 0..<count {
          unsafe target[index] = waiting[place] * gains[index]
          unsafe waiting[place] = source[index]
          place = place &+ 1 == delay ? 0 : place &+ 1
        }
      } else {
        for index in 0..<count {
          unsafe waiting[place] = source[index]
          place = place &+ 1 == delay ? 0 : place &+ 1
        }
      }
    }
    position = (position + count) % delay
    if isGiven { pending -= count } else { leading -= count }
  }

  /// The states of detector and law, and the delayed frames, oldest first.
  func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try detector.code(&coder)
    for lane in lanes.indices {
      try coder.pass(&lanes[lane].state)
      try coder.pass(&lanes[lane].statistics)
    }
    guard delay > 0 else { return }
    try coder.pass(&leading, in: 0...delay)
    try coder.pass(&pending, in: 0...delay)
    if coder.isReading { position = 0 }
    for channel in 0..<channelCount {
      let row = unsafe ring.start + channel * delay
      unsafe try coder.pass(samples: row + position, count: delay - position)
      unsafe try coder.pass(samples: row, count: position)
    }
  }
}

/// Computes gains from levels for one lane: the core of a gate or a compressor.
///
/// The state is plain memory. The gains must not depend on how levels are split into runs.
protocol GainLaw {
  associatedtype State: BitwiseCopyable
  /// The counters for the report.
  associatedtype Statistics: BitwiseCopyable

  /// The greatest number of frames per call.
  static var run: Int { get }

  var state: State { get set }
  var statistics: Statistics { get set }

  /// Replaces `count` levels by gains. The last vector of eight may reach beyond `count`: there is
  /// room within a run.
  /// - Returns: false if every gain is exactly 1; the values are then undefined.
  mutating func replaceLevelsByGains(_ values: UnsafeMutablePointer<Float>, count: Int) -> Bool
}
