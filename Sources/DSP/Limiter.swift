public import AudioModel

/// Keeps the true peak of sound under a ceiling, looking ahead so that the gain bends smoothly.
///
/// The wave between samples is found by 8-fold oversampling, twice what ITU-R BS.1770-4 asks for,
/// since 4-fold reads up to 0.6 dB too little near half the sample rate; see `CeilingWatch` for the
/// filters, and for what they leave. All channels get the same gain. Sound whose true peak stays under the ceiling comes through bit for bit, at little more
/// than the cost of a copy: only groups of frames that could reach the ceiling are oversampled.
public final class Limiter: ReportingProcessor {
  /// How a limiter behaves.
  public struct Settings: Hashable, Sendable {
    /// The true peak that is not exceeded, in dBTP; taken within −120…+60 dB.
    public var ceiling: Decibels
    /// How long before a peak the gain begins to fall; taken within 0…100 ms. It is rounded up so
    /// that the limiter works in whole groups of 64 frames.
    public var lookAhead: Seconds
    /// The time constant of the gain's recovery.
    public var release: Seconds

    /// Describes a limiter.
    public init(
      ceiling: Decibels, lookAhead: Seconds = Seconds(0.005), release: Seconds = Seconds(0.1)
    ) {
      self.ceiling = ceiling
      self.lookAhead = lookAhead
      self.release = release
    }
  }

  /// What comes out: what goes in.
  public let outputFormat: AudioFormat
  /// The look-ahead, and two groups that are being gathered and looked at.
  public let latency: Frames

  private static let group = TruePeakInterpolator.group
  private static let chunk = 1024

  private let ceiling: Float
  /// For how many frames on each side of a peak the gain is constant. The taps farther off weigh so
  /// little, and the gain bends so slowly, that the peak is not the higher for it.
  private static let plateau = 24
  private let watch = CeilingWatch()
  private var gain: LimiterGain
  private let peaks = Scratch<Float>(repeating: 0, count: group)
  private var statistics = ReductionStatistics()

  /// How many frames of a row come before the newest whole group.
  private let history: Int
  private let rowLength: Int
  /// For each channel, the history, and behind it what has arrived since.
  private let rows: Scratch<Float>
  private var filled: Int
  /// For each channel, the extents of the last two groups.
  private var extents: [GroupExtent]
  /// Frames still to be dropped at the head: the silence that the rows are filled with at first.
  private var leading: Int
  /// Frames that were taken and not yet given.
  private var pending = 0

  /// A limiter at rest.
  public init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    let ceiling = Decibels(min(max(settings.ceiling.value, -120), 60)).amplitude
    self.ceiling = Float(ceiling)
    let group = Self.group
    let wanted = Seconds(min(max(settings.lookAhead.value, 0), 0.1)).frames(at: format.sampleRate)
    let plateau = Self.plateau
    // Multiples of a group, so that a group goes out for every one that comes in.
    let delay = (max(wanted.count, 2) + plateau + group - 1) / group * group
    gain = LimiterGain(
      lookAhead: delay - plateau, plateau: plateau,
      releaseStep: TimeConstant.step(settings.release, at: format.sampleRate))
    history = delay + 2 * group
    filled = history
    leading = delay + group
    latency = Frames(delay + 2 * group)
    rowLength = history + group + Self.chunk
    rows = Scratch(repeating: 0, count: rowLength * format.channelCount)
    extents = Array(repeating: GroupExtent(), count: 2 * format.channelCount)
  }

  /// Limits a block.
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
      limitFilled(&output)
    }
  }

  /// Gives what was held back, as if silence followed.
  public func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    while pending > 0 {
      let end = (filled / Self.group + 1) * Self.group
      for channel in 0..<outputFormat.channelCount {
        for index in filled..<end { rows[channel * rowLength + index] = 0 }
      }
      filled = end
      limitFilled(&output)
    }
  }
}

extension Limiter {
  /// Works on every whole group that has arrived, and moves the rest to the front.
  private func limitFilled(_ output: inout AudioBuffer) {
    let end = filled / Self.group * Self.group
    for start in stride(from: history, to: end, by: Self.group) { limit(start, &output) }
    guard end > history else { return }
    for channel in 0..<outputFormat.channelCount {
      let row = unsafe rows.start + channel * rowLength
      unsafe row.update(from: row + (end - history), count: history + filled - end)
    }
    filled -= end - history
  }

  /// The group at `start` has arrived: the one before it can be looked at, and the one `delay`
  /// frames before that can go.
  private func limit(_ start: Int, _ output: inout AudioBuffer) {
    let group = Self.group
    var isQuiet = true
    for channel in 0..<outputFormat.channelCount {
      let samples = unsafe rows.start + (channel * rowLength + start)
      let newest = unsafe GroupExtent(samples)
      let extent = extents[2 * channel].union(extents[2 * channel + 1]).union(newest)
      (extents[2 * channel], extents[2 * channel + 1]) = (extents[2 * channel + 1], newest)
      guard watch.bound(extent) > ceiling else { continue }
      if isQuiet { for index in 0..<group { peaks[index] = 0 } }
      isQuiet = false
      unsafe watch.raise(peaks.start, by: samples - group)
    }
    let isIdle = isQuiet && gain.isAtRest
    if isIdle {
      gain.skip(group)
    } else {
      // The peaks give way to the gains.
      for index in 0..<group {
        let peak = isQuiet ? 0 : unsafe peaks.start[index]
        unsafe peaks.start[index] = gain.push(peak > ceiling ? ceiling / peak : 1)
      }
    }
    give(start - group - gain.delay, isScaled: !isIdle, &output)
  }

  /// Gives the group at `start`, scaled by the gains in `peaks` if need be.
  private func give(_ start: Int, isScaled: Bool, _ output: inout AudioBuffer) {
    let group = Self.group
    guard leading == 0 else {
      leading -= group
      return
    }
    let count = min(group, pending)
    pending -= count
    if isScaled {
      unsafe statistics.add(gains: peaks.start, count: count)
    } else {
      statistics = statistics.adding(count, of: 0)
    }
    let offset = output.frameCount.count
    output.frameCount += Frames(count)
    for channel in 0..<outputFormat.channelCount {
      let source = unsafe rows.start + (channel * rowLength + start)
      let target = unsafe output.baseAddress(ofChannel: channel) + offset
      if isScaled {
        for index in 0..<count { unsafe target[index] = source[index] * peaks.start[index] }
      } else {
        unsafe target.update(from: source, count: count)
      }
    }
  }
}

extension Limiter {
  /// How far the frames that were given were turned down. All channels have one gain, and count once.
  public func report() -> GainReduction { statistics.figures }

  /// The frames held back, the gain's past, and what was counted.
  public var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(filled)
    snapshot.append(leading)
    snapshot.append(pending)
    for channel in 0..<outputFormat.channelCount {
      for index in 0..<filled { snapshot.append(rows[channel * rowLength + index]) }
    }
    snapshot.append(contentsOf: extents)
    gain.append(to: &snapshot)
    snapshot.append(statistics)
    return snapshot
  }

  /// Takes over the state of a limiter with the same settings.
  public func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    var reader = SnapshotReader(snapshot)
    filled = try reader.next(Int.self)
    leading = try reader.next(Int.self)
    pending = try reader.next(Int.self)
    guard (history..<history + Self.group).contains(filled) else { throw SnapshotError() }
    for channel in 0..<outputFormat.channelCount {
      for index in 0..<filled {
        rows[channel * rowLength + index] = try reader.next(Float.self)
      }
    }
    extents = try reader.next(GroupExtent.self, count: extents.count)
    try gain.restore(from: &reader)
    statistics = try reader.next(ReductionStatistics.self)
    try reader.finish()
  }
}
