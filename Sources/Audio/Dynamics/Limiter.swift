/// A true-peak limiter with look-ahead and a smooth gain.
///
/// The wave between samples is found by 8-fold oversampling, twice what ITU-R BS.1770-4 requires,
/// because 4-fold reads up to 0.6 dB too little near half the sample rate; see `CeilingWatch` for
/// the filters and the residual error. All channels share one gain. Sound with a true peak below
/// the ceiling passes bit-exactly, at little more than the cost of a copy: only groups of frames
/// that could reach the ceiling are oversampled.
package final class Limiter: ReportingProcessor {
  package struct Settings: Hashable, Sendable, Codable {
    /// The greatest true peak of the output, in dBTP; clamped to −120…+60 dB.
    package var ceiling: Decibels
    /// How long before a peak the gain begins to fall; clamped to 0…100 ms and rounded up to whole
    /// groups of 64 frames.
    package var lookAhead: Seconds
    /// The time constant of the gain's recovery.
    package var release: Seconds

    package init(
      ceiling: Decibels, lookAhead: Seconds = Seconds(0.005), release: Seconds = Seconds(0.1)
    ) {
      self.ceiling = ceiling
      self.lookAhead = lookAhead
      self.release = release
    }
  }

  package let outputFormat: AudioFormat
  /// The look-ahead, the frames behind a peak that it depends on, and the group being collected.
  package let latency: Frames

  private static let group = TruePeakInterpolator.group
  private static let chunk = 4096

  private let ceiling: Float
  /// The number of frames on each side of a peak with constant gain. Taps farther away weigh so
  /// little, and the gain changes so slowly, that the peak does not rise.
  private static let plateau = 24
  private let watch = CeilingWatch()
  private var gain: Limiter.SmoothGain
  private let peaks = Scratch<Float>(repeating: 0, count: group)
  private var statistics = ReductionStatistics()

  /// Frames of a row before the newest whole group.
  private let history: Int
  /// The place of the next group in the rows, at least the history.
  private var next: Int
  /// For each channel, the history, followed by the new frames.
  private var rows: SampleRows
  /// For each channel, the extents of the last two groups.
  private var extents: [GroupExtent]
  /// Frames still to be dropped at the start: the initial silence of the rows.
  private var leading: Int
  /// Frames taken and not yet returned.
  private var pending = 0

  package init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    let ceiling = Decibels(min(max(settings.ceiling.value, -120), 60)).amplitude
    self.ceiling = Float(ceiling)
    let group = Self.group
    let wanted = Seconds(min(max(settings.lookAhead.value, 0), 0.1)).frames(at: format.sampleRate)
    let plateau = Self.plateau
    // A multiple of the group, so that each group taken returns one.
    let delay = (max(wanted.count, 2) + plateau + group - 1) / group * group
    gain = Limiter.SmoothGain(
      lookAhead: delay - plateau, plateau: plateau,
      releaseStep: settings.release.step(at: format.sampleRate))
    let reach = CeilingWatch.reach
    history = max(delay, reach) + reach
    next = history
    leading = delay + reach
    latency = Frames(delay + reach + group)
    rows = SampleRows(
      channelCount: format.channelCount, length: history + group + Self.chunk, count: history)
    extents = Array(repeating: GroupExtent(), count: 2 * format.channelCount)
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = rows.append(input, from: start)
      start += count
      pending += count
      limitFilled(&output)
    }
  }

  /// Returns the frames held back, as if silence followed.
  package func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    while pending > 0 {
      rows.appendSilence(Self.group - rows.count % Self.group)
      limitFilled(&output)
    }
  }

  /// Processes every complete group. Moves the rest to the front if there is no room for a group.
  private func limitFilled(_ output: inout AudioBuffer) {
    while next + Self.group <= rows.count {
      limit(next, &output)
      next += Self.group
    }
    if rows.length - rows.count < Self.group { dropSettled() }
  }

  private func dropSettled() {
    rows.drop(next - history)
    next = history
  }

  /// The group at `start` is complete: examines the one `reach` frames before it and returns the one
  /// `delay` frames before that.
  private func limit(_ start: Int, _ output: inout AudioBuffer) {
    let group = Self.group
    var isQuiet = true
    for channel in 0..<outputFormat.channelCount {
      let samples = unsafe rows[channel] + (start - CeilingWatch.reach + group)
      let newest = unsafe GroupExtent(samples)
      let extent = extents[2 * channel].union(extents[2 * channel + 1]).union(newest)
      (extents[2 * channel], extents[2 * channel + 1]) = (extents[2 * channel + 1], newest)
      guard watch.bound(extent) > ceiling else { continue }
      if isQuiet { for index in 0..<group { peaks[index] = 0 } }
      isQuiet = false
      unsafe watch.raise(peaks.start, by: samples - group, under: ceiling)
    }
    let isIdle = isQuiet && gain.isAtRest
    if isIdle {
      gain.skip(group)
    } else {
      // Replaces the peaks by gains.
      for index in 0..<group {
        let peak = isQuiet ? 0 : unsafe peaks.start[index]
        unsafe peaks.start[index] = gain.push(peak > ceiling ? ceiling / peak : 1)
      }
    }
    give(start - CeilingWatch.reach - gain.delay, isScaled: !isIdle, &output)
  }

  /// Returns the group at `start`, scaled by the gains in `peaks` if `isScaled`.
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
      let source = unsafe rows[channel] + start
      let target = unsafe output.baseAddress(ofChannel: channel) + offset
      if isScaled {
        for index in 0..<count { unsafe target[index] = source[index] * peaks.start[index] }
      } else {
        unsafe target.update(from: source, count: count)
      }
    }
  }

  /// The reduction of the returned frames. All channels share one gain and count once.
  package func report() -> GainReduction { statistics.figures }

  /// The frames held back, the gain's state and the counters.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    dropSettled()
    var filled = rows.count
    try coder.pass(&filled, in: history..<history + Self.group)
    try coder.pass(&leading)
    try coder.pass(&pending)
    try rows.code(&coder, count: filled)
    try coder.pass(&extents)
    try gain.code(&coder)
    try coder.pass(&statistics)
  }
}
