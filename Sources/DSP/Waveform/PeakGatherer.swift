public import AudioModel

/// Reduces sound to the peaks of short stretches, one after the other, channel by channel.
///
/// The peaks depend only on the sound, never on how it was cut into blocks: each sample has its lane
/// by its place in the stretch, and lanes are added up in one order. A sample that is no number
/// counts as 0.
public final class PeakGatherer {
  private let channelCount: Int
  private let stretch: Int
  /// Frames of the stretch under way.
  private var phase = 0
  private var lanes: [PeakLanes]
  /// Room for samples without those that are no numbers.
  private let row = Scratch<Float>(repeating: 0, count: rowLength)
  private static let rowLength = 1024

  /// Frames heard so far.
  public private(set) var frames = Frames.zero

  /// A gatherer of one peak a channel for every `stretch` frames; at least 1.
  public init(format: AudioFormat, stretch: Frames) {
    precondition(stretch.count > 0)
    channelCount = format.channelCount
    self.stretch = stretch.count
    lanes = Array(repeating: PeakLanes(), count: format.channelCount)
  }

  /// Hears the next block, and adds the peaks of every stretch that it fills: the channels of one
  /// stretch, then those of the next. Linear in the samples.
  public func gather(_ block: borrowing AudioBuffer, into peaks: inout [Peak]) {
    var start = 0
    while start < block.frameCount.count {
      let count = min(stretch - phase, block.frameCount.count - start, Self.rowLength)
      for channel in 0..<channelCount {
        unsafe FiniteSamples.copy(
          from: block.baseAddress(ofChannel: channel) + start, to: row.start, count: count)
        unsafe lanes[channel].add(row.start, count: count, phase: phase)
      }
      start += count
      phase += count
      if phase == stretch { finish(into: &peaks) }
    }
    frames += block.frameCount
  }

  /// Adds the peaks of the stretch under way, if it has begun: the sound may end within it.
  public func finish(into peaks: inout [Peak]) {
    guard phase > 0 else { return }
    phase = 0
    for channel in 0..<channelCount { peaks.append(lanes[channel].take()) }
  }
}

extension PeakGatherer {
  /// The stretch under way: a hundred bytes for each channel.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(phase)
    snapshot.append(frames.count)
    snapshot.append(contentsOf: lanes)
    return snapshot
  }

  /// Takes over the state of a gatherer for the same format and stretch.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    let phase = try reader.next(Int.self)
    let frames = try reader.next(Int.self)
    let lanes = try reader.next(PeakLanes.self, count: channelCount)
    try reader.finish()
    guard (0..<stretch).contains(phase), frames >= 0 else { throw SnapshotError() }
    (self.phase, self.frames, self.lanes) = (phase, Frames(frames), lanes)
  }
}
