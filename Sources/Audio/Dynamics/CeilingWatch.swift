import Glibc

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
    unsafe soft.raise(peaks, by: samples)
    // From 4.4 dB below the ceiling: the band edge adds less to any sound but a tone within it. And
    // most sound has next to nothing there: at 0.2 % of the ceiling, what it adds is below 0.1 dB.
    let top = unsafe LinkedLevel.peak(peaks, count: TruePeakInterpolator.group)
    guard top > 0.6 * ceiling, unsafe edge.isLouder(than: 0.002 * ceiling, around: samples) else {
      unsafe sharp.raise(peaks, by: samples)
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
/// two filters for that point: one with 3,968 taps and β = 2, flat to 0.4997 of the sample rate, and
/// the interpolator's own. As the wave is slow, the filters look at every 16th frame only, and an
/// interpolator with 8 taps and β = 6, flat to 0.016 of the sample rate, gives the others.
private final class BandEdge {
  /// Frames on each side of a group that must be readable; a multiple of the group.
  static let reach = 2048
  /// Frames from one filtered point to the next.
  private static let step = 16
  /// Filtered points on each side of a frame that it depends on.
  private static let margin = 4

  /// The taps of the difference, in the order of the samples.
  private let taps: Scratch<Float>
  /// For each filtered point that a frame depends on, its weights in the step's frames times 1, −1,
  /// 1 …
  private let weights: [SIMD16<Float>]
  /// The filtered points of a group and its margins.
  private let points = Scratch<Float>(
    repeating: 0, count: TruePeakInterpolator.group / step + 2 * margin)
  /// The halves of a Hann window of 32 frames times 1, −1, 1 …, of sum 1 in magnitude. It is down by
  /// 6 dB at 0.47 of the sample rate, and by 31 dB or more below 0.44.
  private let (rising, falling): (SIMD16<Float>, SIMD16<Float>)

  init(beyond filter: TruePeakFilter) {
    let reach = Self.reach - TruePeakInterpolator.group
    let whole = KaiserSinc(reach: reach, beta: 2).taps(0.5)
    let part = filter.taps(phase: filter.factor / 2)
    taps = Scratch(repeating: 0, count: 2 * reach)
    for index in whole.indices {
      let known = index - reach + filter.reach
      taps[index] = Float(whole[index] - (part.indices.contains(known) ? part[known] : 0))
    }
    let slow = KaiserSinc(reach: Self.margin, beta: 6)
    let places = (0..<Self.step).map { slow.taps(Double($0) / Double(Self.step)) }
    weights = (0..<2 * Self.margin).map { point in
      SIMD16(places.enumerated().map { ($0 % 2 == 0 ? 1 : -1) * Float($1[point]) })
    }
    let window = (0..<32).map { index in
      let sign: Float = index % 2 == 0 ? 1 : -1
      return sign * Float(1 - cos(2 * .pi * (Double(index) + 0.5) / 32)) / 32
    }
    (rising, falling) = (SIMD16(window[..<16]), SIMD16(window[16...]))
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
    let first = unsafe samples - (Self.step * (Self.margin - 1) + taps.count / 2 - 1)
    for point in 0..<points.count - 1 {
      let start = unsafe first + Self.step * point
      var sum = SIMD16<Float>.zero
      var index = 0
      while index < taps.count {
        unsafe sum +=
          FoldedInterpolator.load(taps.start + index) * FoldedInterpolator.load(start + index)
        index &+= 16
      }
      points[point] = sum.sum()
    }
    for step in 0..<TruePeakInterpolator.group / Self.step {
      var sum = SIMD16<Float>.zero
      for (point, weight) in weights.enumerated() {
        sum += SIMD16(repeating: points[step + point]) * weight
      }
      unsafe UnsafeMutableRawPointer(missing + Self.step * step)
        .storeBytes(of: sum, as: SIMD16<Float>.self)
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
