public import AudioModel

/// Puts back what clipping has cut off, as far as the sound around tells it.
///
/// A run of two or more samples of one sign at or above the level counts as clipped. It is
/// replaced by the samples that an autoregressive model of the sound around it, of order 32 or
/// less, would find least surprising (Janssen, Veldhuis and Vries, IEEE ASSP-34, 1986), and that reach at least
/// as far as the clipped ones did. All other samples come through bit for bit. Runs longer than
/// the limit stay as they are: what they hide cannot be known.
public final class Declipper: ReportingProcessor {
  /// How a declipper behaves.
  public struct Settings: Hashable, Sendable {
    /// The magnitude, relative to full scale, from which a sample counts as clipped.
    public var level: Decibels
    /// The longest run that is mended; taken within 0…20 ms and 1,024 frames.
    public var longest: Seconds

    /// Describes a declipper.
    public init(level: Decibels = Decibels(-0.1), longest: Seconds = Seconds(0.005)) {
      self.level = level
      self.longest = longest
    }
  }

  /// What a declipper did.
  public struct Report: Hashable, Sendable, Codable {
    /// How many runs were mended.
    public var mendedRuns: Int
    /// How many samples they had.
    public var mendedSamples: Int
    /// How many runs were too long, or had too little sound around them to tell.
    public var abandonedRuns: Int
    /// How far the mended samples reach, relative to full scale; nil where none was.
    public var peak: Decibels?
  }

  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// The longest run, the sound behind it that is looked at, and a group that is being gathered.
  public var latency: Frames { Frames(Self.group + ahead) }

  /// Frames that are finished together.
  private static let group = 256
  /// Frames on each side of a run that its model is made from.
  private static let context = 512

  private let level: Float
  private let longest: Int
  private let ahead: Int
  private let gap: ClippedGap
  /// For each channel: the context that is finished, the group to be finished, and what lies ahead.
  private let rows: Scratch<Float>
  private let rowLength: Int
  private var filled = context
  private var pending = 0
  /// For each channel, up to where in its row runs have been dealt with.
  private var settled: [Int]
  private var counts = Counts()

  private struct Counts: BitwiseCopyable {
    var mendedRuns = 0
    var mendedSamples = 0
    var abandonedRuns = 0
    var peak: Float = 0
  }

  /// A declipper that has heard nothing.
  public init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    level = Float(Decibels(min(max(settings.level.value, -120), 60)).amplitude)
    let wanted = Seconds(min(max(settings.longest.value, 0), 0.02)).frames(at: format.sampleRate)
    longest = min(max(wanted.count, 2), 1024)
    ahead = longest + 1 + Self.context
    gap = ClippedGap(longest: longest, reach: 2 * Self.context + Self.group)
    rowLength = Self.context + Self.group + ahead
    rows = Scratch(repeating: 0, count: rowLength * format.channelCount)
    settled = Array(repeating: Self.context, count: format.channelCount)
  }

  /// Mends a block.
  public func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = min(rowLength - filled, input.frameCount.count - start)
      for channel in 0..<outputFormat.channelCount {
        unsafe FiniteSamples.copy(
          from: input.baseAddress(ofChannel: channel) + start,
          to: rows.start + (channel * rowLength + filled), count: count)
      }
      start += count
      filled += count
      pending += count
      if filled == rowLength { finishGroup(&output) }
    }
  }

  /// Gives what was held back, as if silence followed.
  public func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    while pending > 0 {
      for channel in 0..<outputFormat.channelCount {
        let row = unsafe rows.start + channel * rowLength
        unsafe (row + filled).update(repeating: 0, count: rowLength - filled)
      }
      filled = rowLength
      finishGroup(&output)
    }
  }

  /// How much was mended.
  public func report() -> Report {
    Report(
      mendedRuns: counts.mendedRuns, mendedSamples: counts.mendedSamples,
      abandonedRuns: counts.abandonedRuns, peak: Decibels(finiteAmplitude: Double(counts.peak)))
  }
}

extension Declipper {
  /// Mends the runs that begin in the group, gives it, and moves on.
  private func finishGroup(_ output: inout AudioBuffer) {
    let count = min(Self.group, pending)
    let offset = output.frameCount.count
    output.frameCount += Frames(count)
    for channel in 0..<outputFormat.channelCount {
      let row = unsafe rows.start + channel * rowLength
      unsafe mendGroup(row, channel)
      unsafe (output.baseAddress(ofChannel: channel) + offset).update(
        from: row + Self.context, count: count)
      unsafe row.update(from: row + Self.group, count: rowLength - Self.group)
      settled[channel] = max(settled[channel] - Self.group, Self.context)
    }
    filled = rowLength - Self.group
    pending -= count
  }

  private func mendGroup(_ row: UnsafeMutablePointer<Float>, _ channel: Int) {
    let end = Self.context + Self.group
    guard unsafe LinkedLevel.peakMagnitude(row + Self.context, count: Self.group) >= level else {
      return
    }
    // One model serves all runs of the group.
    var hasModel: Bool?
    var position = settled[channel]
    while position < end {
      let first = unsafe row[position]
      guard first.magnitude >= level else {
        position += 1
        continue
      }
      var next = position + 1
      while next < rowLength, unsafe row[next].magnitude >= level,
        unsafe (row[next] < 0) == (first < 0)
      { next += 1 }
      let length = next - position
      let before = unsafe row[position - 1]
      if before.magnitude >= level, (before < 0) == (first < 0) {
        // The rest of a run that was too long, and longer than what could be seen of it.
      } else if length > longest {
        counts.abandonedRuns += 1
      } else if length > 1 {
        if hasModel == nil {
          hasModel = unsafe gap.findModel(
            row, count: 2 * Self.context + Self.group, below: level)
        }
        if hasModel == true, unsafe gap.mend(row, start: position, count: length) {
          counts.mendedRuns += 1
          counts.mendedSamples += length
          counts.peak = unsafe max(
            counts.peak, LinkedLevel.peakMagnitude(row + position, count: length))
        } else {
          counts.abandonedRuns += 1
        }
      }
      position = next
    }
    settled[channel] = position
  }

  /// The frames held back, and what was counted.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(filled)
    snapshot.append(pending)
    snapshot.append(counts)
    snapshot.append(contentsOf: settled)
    for channel in 0..<outputFormat.channelCount {
      for index in 0..<filled { snapshot.append(rows[channel * rowLength + index]) }
    }
    return snapshot
  }

  /// Takes over the state of a declipper with the same settings.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    filled = try reader.next(Int.self)
    pending = try reader.next(Int.self)
    counts = try reader.next(Counts.self)
    settled = try reader.next(Int.self, count: settled.count)
    guard (Self.context..<rowLength).contains(filled), (0...rowLength).contains(pending),
      settled.allSatisfy({ (Self.context...rowLength).contains($0) })
    else { throw SnapshotError() }
    for channel in 0..<outputFormat.channelCount {
      for index in 0..<filled {
        rows[channel * rowLength + index] = try reader.next(Float.self)
      }
    }
    try reader.finish()
  }
}
