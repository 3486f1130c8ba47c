import Glibc

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

/// The limiter's peak detector: the greatest value that two kinds of interpolators find.
///
/// For sound that reaches half the sample rate the true peak is not unique: what an interpolator's
/// filter removes may have raised or lowered a crest. Hence two filters:
///
/// - 8 points a frame with 128 taps each and β = 4, flat to 0.49 of the sample rate; where its peaks
///   come near the ceiling, `BandEdge` adds what lies above, up to 0.4997;
/// - 4 points a frame with 32 taps each and β = 9, which rolls off from 0.41, as common meters do
///   (libswresample's default filter, used by ffmpeg's `ebur128`).
///
/// Residual error: ideal interpolation finds peaks up to 0.1 dB above the ceiling in limited sound
/// that reaches half the sample rate, and none in sound that ends below 0.49.
final class CeilingWatch {
  /// Frames on each side of a group that must be readable.
  static let reach = BandEdge.reach

  private let sharp = FoldedInterpolator(TruePeakFilter(factor: 8, reach: 64, beta: 4))
  private let soft = FoldedInterpolator(TruePeakFilter(factor: 4, reach: 16, beta: 9))
  private let edge: BandEdge
  private let missing = Scratch<Float>(repeating: 0, count: TruePeakInterpolator.group)

  init() { edge = BandEdge(beyond: sharp.filter) }

  /// An upper bound for all points of a group, from the bounds of that group and its neighbours.
  func bound(_ extent: GroupExtent) -> Float {
    max(sharp.filter.bound(extent), soft.filter.bound(extent))
  }

  /// Raises the peaks of a group's frames to what the interpolators find.
  func raise(
    _ peaks: UnsafeMutablePointer<Float>, by samples: UnsafePointer<Float>, under ceiling: Float
  ) {
    unsafe sharp.raise(peaks, by: samples)
    unsafe soft.raise(peaks, by: samples)
    // From 2.5 dB below the ceiling: the band edge adds less to any sound but a tone within it.
    let top = unsafe LinkedLevel.peak(peaks, count: TruePeakInterpolator.group)
    // Most sound has next to nothing there: at 0.2 % of the ceiling, what it adds is below 0.1 dB.
    guard top > 0.75 * ceiling, unsafe edge.isLouder(than: 0.002 * ceiling, around: samples) else {
      return
    }
    unsafe edge.find(missing.start, of: samples)
    unsafe sharp.raise(peaks, by: samples, adding: missing.start)
  }
}

/// What an interpolator misses between its band edge and half the sample rate.
///
/// Sound in that narrow band is a slow wave times −1, 1, −1 …, and between two samples it follows
/// half a period of a sine. The point halfway therefore gives the others. It is the difference of
/// two filters for that point: one with 4,096 taps and β = 2, flat to 0.4997 of the sample rate, and
/// the interpolator's own.
private final class BandEdge {
  /// A multiple of the group.
  static let reach = 2048

  /// The taps from the middle outwards; each belongs to both sides.
  private let taps: Scratch<Float>
  /// The halves of a Hann window of 32 frames times 1, −1, 1 …, of sum 1 in magnitude. It is down by
  /// 6 dB at 0.47 of the sample rate, and by 31 dB or more below 0.44.
  private let (rising, falling): (SIMD16<Float>, SIMD16<Float>)

  init(beyond filter: TruePeakFilter) {
    let reach = Self.reach
    let whole = TruePeakFilter(factor: 2, reach: reach, beta: 2).taps(phase: 1)
    let part = filter.taps(phase: filter.factor / 2)
    taps = Scratch(repeating: 0, count: reach)
    let window = (0..<32).map { index in
      let sign: Float = index % 2 == 0 ? 1 : -1
      return sign * Float(1 - cos(2 * .pi * (Double(index) + 0.5) / 32)) / 32
    }
    (rising, falling) = (SIMD16(window[..<16]), SIMD16(window[16...]))
    for distance in 0..<reach {
      let known = distance < filter.reach ? part[filter.reach + distance] : 0
      taps[distance] = Float(whole[reach + distance] - known)
    }
  }

  /// Whether the sound near half the sample rate is louder than `level` anywhere within reach of a
  /// group.
  func isLouder(than level: Float, around samples: UnsafePointer<Float>) -> Bool {
    let last = TruePeakInterpolator.group + Self.reach - 32
    for frame in stride(from: 16 - Self.reach, through: last, by: 16) {
      let a = unsafe FoldedInterpolator.load(samples + frame)
      let b = unsafe FoldedInterpolator.load(samples + (frame &+ 16))
      if (rising * a + falling * b).sum().magnitude > level { return true }
    }
    return false
  }

  /// Finds what is missing halfway between each frame of a group and the next.
  func find(_ missing: UnsafeMutablePointer<Float>, of samples: UnsafePointer<Float>) {
    for frame in stride(from: 0, to: TruePeakInterpolator.group, by: 16) {
      var sum = SIMD16<Float>.zero
      // Adds small terms first, to reduce rounding errors.
      var distance = Self.reach
      while distance > 0 {
        distance &-= 1
        let a = unsafe FoldedInterpolator.load(samples + (frame &- distance))
        let b = unsafe FoldedInterpolator.load(samples + (frame &+ distance &+ 1))
        unsafe sum += SIMD16(repeating: taps.start[distance]) * (a + b)
      }
      unsafe UnsafeMutableRawPointer(missing + frame).storeBytes(of: sum, as: SIMD16<Float>.self)
    }
  }
}

/// Finds true peaks with long filters at half the work.
///
/// The phases f and 1 − f of a symmetric filter are mirror images. With the samples a and b at the
/// same distance on both sides and their taps p and q, one phase is the sum of pa + qb and the
/// other that of qa + pb: the sum and the difference of (p + q)(a + b) / 2 and (p − q)(a − b) / 2.
/// Two phases thus cost the multiplications of one.
final class FoldedInterpolator {
  /// An even number of points a frame, and a reach of at most one group.
  let filter: TruePeakFilter

  /// For each pair of phases (p + q) / 2 from the middle outwards, then (p − q) / 2; last the taps
  /// of the middle phase, which is its own mirror image.
  private let taps: Scratch<Float>
  /// The sums a + b and differences a − b of the current frames, from the middle outwards.
  private let sums, differences: Scratch<SIMD16<Float>>
  /// For each pair of phases f and 1 − f, the sine of πf.
  private let sines: [Float]

  init(_ filter: TruePeakFilter) {
    precondition(filter.factor % 2 == 0 && filter.reach <= TruePeakInterpolator.group)
    self.filter = filter
    let reach = filter.reach
    taps = Scratch(repeating: 0, count: (filter.factor - 1) * reach)
    sums = Scratch(repeating: .zero, count: reach)
    differences = Scratch(repeating: .zero, count: reach)
    sines = (1...filter.factor / 2).map { Float(sin(.pi * Double($0) / Double(filter.factor))) }
    for phase in 1...filter.factor / 2 {
      let whole = filter.taps(phase: phase)
      let start = 2 * (phase - 1) * reach
      for distance in 0..<reach {
        let (p, q) = (whole[reach - 1 - distance], whole[reach + distance])
        taps[start + distance] = Float((p + q) / 2)
        if 2 * phase < filter.factor { taps[start + reach + distance] = Float((p - q) / 2) }
      }
    }
  }

  /// Raises each peak in `peaks` to the greatest magnitude of the frame's sample and of the points
  /// up to the next sample. The filter's reach must be readable on each side of `samples`.
  /// - Parameter edges: for each frame, what is added halfway to the next; see `BandEdge`.
  func raise(
    _ peaks: UnsafeMutablePointer<Float>, by samples: UnsafePointer<Float>,
    adding edges: UnsafePointer<Float>? = nil
  ) {
    let reach = filter.reach
    let (sums, differences) = unsafe (self.sums.start, self.differences.start)
    for frame in stride(from: 0, to: TruePeakInterpolator.group, by: 16) {
      let middle = unsafe samples + frame
      for distance in 0..<reach {
        let a = unsafe Self.load(middle - distance)
        let b = unsafe Self.load(middle + distance + 1)
        unsafe sums[distance] = a + b
        unsafe differences[distance] = a - b
      }
      let own = unsafe Self.load(middle)
      var edge = SIMD16<Float>.zero
      if let edges = unsafe edges { unsafe edge = Self.load(edges + frame) }
      var top = LinkedLevel.greater(own, 0 - own)
      for pair in 0..<filter.factor / 2 - 1 {
        let even =
          unsafe Self.total(sums, taps.start + 2 * pair * reach, count: reach)
          + SIMD16(repeating: sines[pair]) * edge
        let odd = unsafe Self.total(differences, taps.start + (2 * pair + 1) * reach, count: reach)
        top = LinkedLevel.greater(top, LinkedLevel.greater(even + odd, 0 - (even + odd)))
        top = LinkedLevel.greater(top, LinkedLevel.greater(even - odd, odd - even))
      }
      let half =
        unsafe Self.total(sums, taps.start + (filter.factor - 2) * reach, count: reach) + edge
      top = LinkedLevel.greater(top, LinkedLevel.greater(half, 0 - half))
      // What lies above the edge filter's own band is in proportion to what it finds.
      top += SIMD16(repeating: 0.25) * LinkedLevel.greater(edge, 0 - edge)
      let target = unsafe UnsafeMutableRawPointer(peaks + frame)
      let before = unsafe target.loadUnaligned(as: SIMD16<Float>.self)
      unsafe target.storeBytes(of: LinkedLevel.greater(before, top), as: SIMD16<Float>.self)
    }
  }

  @inline(__always)
  private static func total(
    _ values: UnsafePointer<SIMD16<Float>>, _ taps: UnsafePointer<Float>, count: Int
  ) -> SIMD16<Float> {
    var sum = SIMD16<Float>.zero
    // Adds small terms first, to reduce rounding errors.
    var index = count
    while index > 0 {
      index &-= 1
      unsafe sum += SIMD16(repeating: taps[index]) * values[index]
    }
    return sum
  }

  @inline(__always)
  fileprivate static func load(_ samples: UnsafePointer<Float>) -> SIMD16<Float> {
    unsafe UnsafeRawPointer(samples).loadUnaligned(as: SIMD16<Float>.self)
  }
}
