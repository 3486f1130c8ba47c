import AudioModel
import Glibc

/// Measures the level of each frame as a side chain says: once for all channels where they are
/// fully linked, else for each of them. Peaks may be held (see `PeakHold`), each channel's for
/// itself, so that linking compares crests with crests.
final class LevelDetector {
  /// The most frames that are measured at a time.
  static let chunk = 512

  /// How many levels there are for each frame: 1, or one for each channel.
  let laneCount: Int

  private let channelCount: Int
  private let link: Float
  /// The part of a mean square that the newest sample makes; nil to take peaks.
  private let squareStep: Double?
  private var squares: [Double]
  /// Levels of single channels, where they are not the result themselves.
  private let rows: Scratch<Float>
  private let filter: SidechainFilter?
  /// For each lane what holds its peaks; none where they are not held.
  private let holds: [PeakHold]

  /// A detector that has heard nothing.
  ///
  /// With `holdsPeaks`, the level of a peak detector is the greatest of the last 10 ms; that of a
  /// mean square is smooth already.
  init(_ sidechain: Sidechain, holdsPeaks: Bool, format: AudioFormat) {
    channelCount = format.channelCount
    link = Float(min(max(sidechain.link, 0), 1))
    laneCount = link == 1 ? 1 : format.channelCount
    switch sidechain.detector {
    case .peak: squareStep = nil
    case .rms(let window): squareStep = TimeConstant.step(window, at: format.sampleRate)
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

  /// Writes the levels of `count` frames from `start` to `levels`, a chunk for each lane. Samples
  /// must be finite.
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

  /// Writes a channel's own levels to its lane, and raises the first row to them: the loudest.
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
        // The offset keeps a mean square from decaying into subnormal numbers.
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

  /// Brings each lane nearer to the loudest, as far as they are linked.
  private func joinLanes(_ levels: UnsafeMutablePointer<Float>, count: Int) {
    let loudest = unsafe rows.start
    if laneCount == 1 { return unsafe levels.update(from: loudest, count: count) }
    guard link > 0 else { return }
    for lane in 0..<laneCount {
      let own = unsafe levels + lane * Self.chunk
      for index in 0..<count { unsafe own[index] += link * (loudest[index] - own[index]) }
    }
  }
}

extension LevelDetector {
  /// Adds the filter's state, and the mean squares or held peaks.
  func append(to snapshot: inout ProcessorSnapshot) {
    snapshot.append(contentsOf: squares)
    for hold in holds { hold.append(to: &snapshot) }
    if let filter { snapshot.append(filter.snapshot) }
  }

  /// Takes over what `append` wrote.
  func restore(from reader: inout SnapshotReader) throws(SnapshotError) {
    squares = try reader.next(Double.self, count: squares.count)
    for hold in holds { try hold.restore(from: &reader) }
    if let filter { try filter.restore(try reader.nextPart()) }
  }
}
