import AudioModel

/// Lets gains follow the level of a stream by some law, and applies them: what gate and compressor
/// have in common.
///
/// Without look-ahead, sound is treated in place. With it, it waits in a ring for the gain that
/// its future has made.
final class LevelDrivenGain<Law: GainLaw> {
  /// For how many frames the sound is held back.
  let delay: Int
  /// The law of each lane.
  private(set) var lanes: [Law]

  private let detector: LevelDetector
  private let channelCount: Int
  /// For each lane a chunk of levels, then gains.
  private let values: Scratch<Float>
  private var fresh: AudioBuffer
  /// For each channel, the frames that wait, the oldest at `position`.
  private let ring: Scratch<Float>
  private var position = 0
  /// Frames still to be dropped at the head: the silence that the ring is filled with at first.
  private var leading: Int
  /// Frames that were taken and not yet given.
  private var pending = 0

  /// A gain that has heard nothing.
  ///
  /// With `holdsPeaks`, peaks count for 10 ms: for laws that have no hold time of their own.
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

  /// Treats a block.
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
        fresh.frameCount = Frames(count)
        for channel in 0..<channelCount {
          unsafe FiniteSamples.copy(
            from: input.baseAddress(ofChannel: channel) + start,
            to: fresh.baseAddress(ofChannel: channel), count: count)
        }
        start += count
        pending += count
        delayFresh(&output)
      }
    }
  }

  /// Gives what was held back, as if silence followed.
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

  /// How many of `count` frames are taken at once: the head ends with a chunk.
  private func roomForFresh(_ count: Int) -> Int {
    let room = min(count, LevelDetector.chunk)
    return leading > 0 ? min(room, leading) : room
  }
}

extension LevelDrivenGain {
  /// Treats up to a chunk of frames in place.
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

  /// Sends `fresh` into the ring, and what it pushes out to `output`.
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
      // Gains for what came before the first frame are nobody's.
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
}

extension LevelDrivenGain {
  /// The states of detector and law, and the frames held back.
  var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    detector.append(to: &snapshot)
    for lane in lanes {
      snapshot.append(lane.state)
      snapshot.append(lane.statistics)
    }
    guard delay > 0 else { return snapshot }
    snapshot.append(leading)
    snapshot.append(pending)
    for channel in 0..<channelCount {
      for index in 0..<delay {
        snapshot.append(ring[channel * delay + (position + index) % delay])
      }
    }
    return snapshot
  }

  /// Takes over the state of an equal gain.
  func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    try detector.restore(from: &reader)
    for lane in lanes.indices {
      lanes[lane].state = try reader.next(Law.State.self)
      lanes[lane].statistics = try reader.next(Law.Statistics.self)
    }
    if delay > 0 {
      leading = try reader.next(Int.self)
      pending = try reader.next(Int.self)
      guard (0...delay).contains(leading), (0...delay).contains(pending) else {
        throw SnapshotError()
      }
      for index in 0..<delay * channelCount { ring[index] = try reader.next(Float.self) }
      position = 0
    }
    try reader.finish()
  }
}
