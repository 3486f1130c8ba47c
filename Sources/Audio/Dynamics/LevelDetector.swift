import Glibc

/// Measures the level of each frame as the side chain specifies: one level for all channels if they
/// are fully linked, else one per channel. Peaks may be held (see `PeakHold`) per channel, before
/// linking.
final class LevelDetector {
  /// The greatest number of frames per measurement.
  static let chunk = 512

  /// Levels per frame: 1, or one per channel.
  let laneCount: Int

  private let channelCount: Int
  private let link: Float
  /// The weight of the newest sample in a mean square; nil for peaks.
  private let squareStep: Double?
  private var squares: [Double]
  /// Levels of single channels, if they are not the result themselves.
  private let rows: Scratch<Float>
  private let filter: SidechainFilter?
  /// The peak hold of each lane; empty without holding.
  private let holds: [PeakHold]

  init(_ sidechain: Sidechain, holdsPeaks: Bool, format: AudioFormat) {
    channelCount = format.channelCount
    link = Float(min(max(sidechain.link, 0), 1))
    laneCount = link == 1 ? 1 : format.channelCount
    switch sidechain.detector {
    case .peak: squareStep = nil
    case .rms(let window): squareStep = window.step(at: format.sampleRate)
    }
    squares = Array(repeating: 0, count: squareStep == nil ? 0 : channelCount)
    let needsRows = squareStep != nil || laneCount > 1
    rows = Scratch(repeating: 0, count: needsRows ? 2 * Self.chunk : 0)
    filter = sidechain.highPass.map {
      SidechainFilter(highPass: $0, format: format, capacity: Frames(Self.chunk))
    }
    let isHeld = holdsPeaks && squareStep == nil
    holds = (0..<(isHeld ? laneCount : 0)).map { _ in PeakHold(sampleRate: format.sampleRate) }
  }

  /// Writes the levels of `count` frames from `start` to `levels`, one chunk per lane. Samples must
  /// be finite.
  func measure(
    _ block: borrowing AudioBuffer, start: Int, count: Int, into levels: UnsafeMutablePointer<Float>
  ) {
    if let filter {
      filter.filter(block, start: start, count: count)
      unsafe measureFiltered(filter.output, start: 0, count: count, into: levels)
    } else {
      unsafe measureFiltered(block, start: start, count: count, into: levels)
    }
  }

  @inline(__always)
  private func measureFiltered(
    _ block: borrowing AudioBuffer, start: Int, count: Int, into levels: UnsafeMutablePointer<Float>
  ) {
    if squareStep == nil, laneCount == 1 {
      unsafe LinkedLevel.measure(block, start: start, count: count, into: levels)
      if let hold = holds.first { unsafe hold.hold(levels, count: count) }
      return
    }
    for channel in 0..<channelCount {
      let samples = unsafe block.baseAddress(ofChannel: channel) + start
      unsafe measure(samples, channel, count: count, into: levels)
    }
    unsafe joinLanes(levels, count: count)
  }

  /// Writes a channel's levels to its lane and raises the first row to their maximum.
  private func measure(
    _ samples: UnsafePointer<Float>, _ channel: Int, count: Int,
    into levels: UnsafeMutablePointer<Float>
  ) {
    let loudest = unsafe rows.start
    let own =
      if laneCount > 1 { unsafe levels + channel * Self.chunk } else {
        unsafe rows.start + Self.chunk
      }
    if let squareStep {
      let keep = 1 - squareStep
      var square = squares[channel]
      for index in 0..<count {
        let sample = unsafe Double(samples[index])
        // The offset keeps the mean square from decaying into subnormal numbers.
        square = square * keep + (sample * sample * squareStep + 1e-30)
        unsafe own[index] = Float(square.squareRoot())
      }
      squares[channel] = square
    } else {
      for index in 0..<count { unsafe own[index] = samples[index].magnitude }
      if !holds.isEmpty { unsafe holds[channel].hold(own, count: count) }
    }
    if channel == 0 {
      unsafe loudest.update(from: own, count: count)
    } else {
      for index in 0..<count {
        unsafe loudest[index] = LinkedLevel.greater(loudest[index], own[index])
      }
    }
  }

  /// Moves each lane towards the loudest by the link factor.
  private func joinLanes(_ levels: UnsafeMutablePointer<Float>, count: Int) {
    let loudest = unsafe rows.start
    if laneCount == 1 { return unsafe levels.update(from: loudest, count: count) }
    guard link > 0 else { return }
    for lane in 0..<laneCount {
      let own = unsafe levels + lane * Self.chunk
      for index in 0..<count { unsafe own[index] += link * (loudest[index] - own[index]) }
    }
  }

  func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&squares)
    for hold in holds { try hold.code(&coder) }
    if let filter { try coder.pass(part: filter.equalizer) }
  }
}

/// The high-pass filter before a detector, with its output buffer.
final class SidechainFilter {
  /// The output of the last call.
  private(set) var output: AudioBuffer
  private var input: AudioBuffer
  let equalizer: Equalizer

  init(highPass corner: Hertz, format: AudioFormat, capacity: Frames) {
    equalizer = Equalizer(
      bands: [EqualizerBand(.highPass, frequency: corner)], format: format)
    input = AudioBuffer(channelCount: format.channelCount, capacity: capacity)
    output = AudioBuffer(channelCount: format.channelCount, capacity: capacity)
  }

  /// Filters a part of a block into `output`.
  func filter(_ block: borrowing AudioBuffer, start: Int, count: Int) {
    input.copy(from: block, start: Frames(start), count: Frames(count))
    equalizer.process(input, into: &output)
  }
}

/// The maximum of the last 10 ms of levels: the compressor's peak level.
///
/// A wave's magnitude falls to zero twice a period, which is no change of level. Half a period of
/// 50 Hz is 10 ms, so the window always contains a crest of a steady tone from there up, and its
/// level is constant. A rising level counts at once, a falling one 10 ms later.
///
/// Levels are stored in a ring, in groups with known maxima. O(1) a level, plus a search of the
/// maxima once per group; the result does not depend on how levels are split into runs.
final class PeakHold {
  private static let group = 16

  /// The window length in levels, the newest included: 10 ms, rounded up to whole groups.
  let window: Int

  /// The last `window` levels; the newest replaces the oldest.
  private let ring: Scratch<Float>
  /// The maximum of each group; 0 for the group at `position` while it is replaced. Zero-padded to
  /// a whole vector.
  private let maxima: Scratch<Float>
  /// The place of the next level.
  private var position = 0
  /// For each place of the group at `position`, the greatest level behind it.
  private let behind = Scratch<Float>(repeating: 0, count: group)

  /// Starts with a window of silence.
  init(sampleRate: Hertz) {
    let half = max((0.01 * sampleRate.value).rounded(.up), 1)
    let groups = (Int(half) + Self.group - 1) / Self.group
    window = groups * Self.group
    ring = Scratch(repeating: 0, count: window)
    maxima = Scratch(repeating: 0, count: (groups + 7) / 8 * 8)
  }

  /// Replaces each of `count` non-negative levels by the maximum of the window that ends with it.
  func hold(_ levels: UnsafeMutablePointer<Float>, count: Int) {
    var done = 0
    while done < count {
      let offset = position % Self.group
      let length = min(Self.group - offset, count - done)
      let number = position / Self.group
      let before = maxima[number]
      maxima[number] = 0
      let others = unsafe LinkedLevel.peak(maxima.start, count: maxima.count)
      let fresh = unsafe levels + done
      if length == Self.group {
        let newest = unsafe LinkedLevel.peak(fresh, count: Self.group)
        if others >= newest, others >= before {
          // The most frequent case: neither the new nor the replaced group holds the maximum.
          unsafe (ring.start + position).update(from: fresh, count: Self.group)
          unsafe fresh.update(repeating: others, count: Self.group)
        } else {
          unsafe replace(fresh, count: Self.group, others: others)
        }
        maxima[number] = newest
      } else {
        unsafe replace(fresh, count: length, others: others)
        if offset + length == Self.group {
          maxima[number] = unsafe LinkedLevel.peak(
            ring.start + number * Self.group, count: Self.group)
        }
      }
      done += length
      position = position + length == window ? 0 : position + length
    }
  }

  /// Holds levels within one group; `others` is the maximum of all other groups.
  private func replace(_ levels: UnsafeMutablePointer<Float>, count: Int, others: Float) {
    let offset = position % Self.group
    let group = unsafe ring.start + (position - offset)
    let behind = unsafe behind.start
    var greatest: Float = 0
    for index in stride(from: Self.group - 1, through: offset, by: -1) {
      unsafe behind[index] = greatest
      greatest = unsafe LinkedLevel.greater(greatest, group[index])
    }
    greatest = others
    for index in 0..<offset { greatest = unsafe LinkedLevel.greater(greatest, group[index]) }
    for index in 0..<count {
      let level = unsafe levels[index]
      unsafe group[offset &+ index] = level
      greatest = LinkedLevel.greater(greatest, level)
      unsafe levels[index] = LinkedLevel.greater(greatest, behind[offset &+ index])
    }
  }

  /// Passes the position and the window's levels.
  func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&position, in: 0..<window)
    unsafe try coder.pass(samples: ring.start, count: window)
    guard coder.isReading else { return }
    for number in 0..<window / Self.group {
      maxima[number] = unsafe LinkedLevel.peak(
        ring.start + number * Self.group, count: Self.group)
    }
  }
}

/// The level source of a gate or compressor. The default is the unfiltered peak of all channels.
package struct Sidechain: Hashable, Sendable {
  /// The definition of a channel's level.
  package enum Detector: Hashable, Sendable {
    /// The greatest magnitude of the last 10 ms, half a period of 50 Hz: the amplitude of a tone.
    case peak
    /// The root mean square with exponential weights of time constant `window`; a sine of amplitude
    /// 1 has −3.01 dB. A window of 0 gives the magnitude of each sample.
    case rms(window: Seconds)
  }

  package var detector: Detector
  /// The corner of a second-order high-pass before the detector, against rumble and plosives; nil
  /// for none. It does not filter the sound itself.
  package var highPass: Hertz?
  /// The weight of the loudest channel in each channel's level, clamped to 0…1: 1 gives all
  /// channels one gain and keeps the stereo image, 0 treats them independently. Levels in between
  /// are interpolated as amplitudes.
  package var link: Double
  /// How long before its cause the gain moves, clamped to 0…100 ms. The sound is delayed by this
  /// time.
  package var lookAhead: Seconds

  package init(
    _ detector: Detector = .peak, highPass: Hertz? = nil, link: Double = 1,
    lookAhead: Seconds = Seconds(0)
  ) {
    self.detector = detector
    self.highPass = highPass
    self.link = link
    self.lookAhead = lookAhead
  }

  func lookAheadFrames(at sampleRate: Hertz) -> Int {
    Seconds(min(max(lookAhead.value, 0), 0.1)).frames(at: sampleRate).count
  }
}
