import Glibc
import Platform

/// The densities of a model: for each phone and each part of the features so many Gaussians with
/// diagonal covariance, which all states of the phone share (phonetically tied mixtures).
struct DensityCodebooks: Sendable {
  /// Coefficients in a part of the features: the cepstrum, its slope, and the slope's slope.
  static let width = 13
  /// The parts.
  static let partCount = 3

  /// How many phones have densities.
  let count: Int
  /// Densities of a phone and part.
  let densityCount: Int

  /// Means and halved inverse variances by turns, for four densities at once: by phone, part, group
  /// of four, and coefficient.
  private var terms: [SIMD4<Float>]
  /// The logarithm of each density at its mean.
  private let peaks: [SIMD4<Float>]

  /// Variances are no smaller than this, as libpocketsphinx has it.
  private static let smallestVariance: Float = 0.0001

  /// After so many coefficients it is asked whether a density is still of interest.
  private static let section = 4
  private static let sectionCount = 3

  /// Reads the files of a model.
  init(means: String, variances: String) throws(SpoolError) {
    let (shape, mean) = try Self.read(means)
    let (same, variance) = try Self.read(variances)
    guard shape == same, shape.densities.isMultiple(of: 4) else {
      throw ModelBytes.error(variances, "it does not go with the means")
    }
    count = shape.codebooks
    densityCount = shape.densities
    let (groups, width) = (densityCount / 4, Self.width)
    var terms: [SIMD4<Float>] = []
    terms.reserveCapacity(count * Self.partCount * groups * width * 2)
    var peaks: [SIMD4<Float>] = []
    for group in 0..<count * Self.partCount * groups {
      var peak = SIMD4<Float>(repeating: -Float(width) / 2 * logf(2 * .pi))
      for coefficient in 0..<width {
        var centre = SIMD4<Float>.zero
        var weight = SIMD4<Float>.zero
        for lane in 0..<4 {
          let place = (group * 4 + lane) * width + coefficient
          let spread = max(variance[place], Self.smallestVariance)
          centre[lane] = mean[place]
          weight[lane] = 0.5 / spread
          peak[lane] -= 0.5 * logf(spread)
        }
        terms.append(centre)
        terms.append(weight)
      }
      peaks.append(peak)
    }
    self.terms = terms
    self.peaks = peaks
  }

  private static func read(_ path: String) throws(SpoolError)
    -> (shape: (codebooks: Int, densities: Int), values: [Float])
  {
    var file = try ModelBytes(of: path)
    try file.passHead()
    let counts = try file.integers(3)
    guard counts[1] == partCount, try file.integers(partCount) == [width, width, width] else {
      throw file.error("its features are not three times thirteen")
    }
    let count = try file.integer()
    guard counts[0] > 0, counts[2] > 0, count == counts[0] * counts[2] * partCount * width else {
      throw file.error("its numbers are not counted right")
    }
    return ((counts[0], counts[2]), try file.floats(count))
  }

  /// How many groups of four densities there are.
  var groupCount: Int { peaks.count }

  /// The groups of a phone and part.
  func groups(codebook: Int, part: Int) -> Range<Int> {
    let count = densityCount / 4
    let first = (codebook * Self.partCount + part) * count
    return first..<first + count
  }

  /// A coefficient of the means of a group of four.
  subscript(group: Int, coefficient: Int) -> SIMD4<Float> {
    get { terms[(group * Self.width + coefficient) * 2] }
    set { terms[(group * Self.width + coefficient) * 2] = newValue }
  }

  /// The inverse variances of a group of four.
  func precision(of group: Int, _ coefficient: Int) -> SIMD4<Float> {
    2 * terms[(group * Self.width + coefficient) * 2 + 1]
  }

  /// The logarithms of four densities.
  func logarithms(of group: Int, _ features: ArraySlice<Float>) -> SIMD4<Float> {
    var sums = peaks[group]
    var term = group * Self.width * 2
    for value in features {
      let off = value - terms[term]
      sums -= off * off * terms[term + 1]
      term += 2
    }
    return sums
  }

  /// Finds the likeliest densities of a codebook for four frames.
  ///
  /// Each coefficient only makes a density less likely: one that is too unlikely already is not
  /// looked at to its end.
  ///
  /// - Parameters:
  ///   - features: each coefficient of the part four times, frame after frame.
  ///   - limits: for each of the frames, what a density must exceed to count at all.
  ///
  /// Complexity: O(densities × coefficients) at most.
  func evaluate(
    codebook: Int, part: Int, _ features: Span<SIMD4<Float>>, at frame: Int,
    above limits: SIMD4<Float>
  ) -> (Top, Top, Top, Top) {
    let groups = densityCount / 4
    let first = (codebook * Self.partCount + part) * groups
    let stride = Self.width * Self.partCount
    let start = frame * stride + part * Self.width
    precondition(codebook < count && part < Self.partCount && frame >= 0)
    precondition(start + 3 * stride + Self.width <= features.count)
    var tops = (
      Top(none: densityCount, above: limits[0]), Top(none: densityCount, above: limits[1]),
      Top(none: densityCount, above: limits[2]), Top(none: densityCount, above: limits[3])
    )
    // The innermost loop of all: the checks above stand for those of every access.
    unsafe features.withUnsafeBufferPointer { features in
      unsafe terms.withUnsafeBufferPointer { terms in
        for group in 0..<groups {
          let peak = peaks[first + group]
          var sums = (peak, peak, peak, peak)
          var term = (first + group) * Self.width * 2
          var place = start
          for section in 0..<Self.sectionCount {
            let end = section + 1 < Self.sectionCount ? place &+ Self.section : start &+ Self.width
            while place < end {
              let centre = unsafe terms[term]
              let weight = unsafe terms[term &+ 1]
              let off0 = unsafe features[place] - centre
              let off1 = unsafe features[place &+ stride] - centre
              let off2 = unsafe features[place &+ 2 &* stride] - centre
              let off3 = unsafe features[place &+ 3 &* stride] - centre
              sums.0 -= off0 * off0 * weight
              sums.1 -= off1 * off1 * weight
              sums.2 -= off2 * off2 * weight
              sums.3 -= off3 * off3 * weight
              term &+= 2
              place &+= 1
            }
            let hope =
              (sums.0 .> tops.0.least) .| (sums.1 .> tops.1.least) .| (sums.2 .> tops.2.least)
              .| (sums.3 .> tops.3.least)
            guard any(hope) else { break }
          }
          guard place == start &+ Self.width else { continue }
          tops.0.take(sums.0, group)
          tops.1.take(sums.1, group)
          tops.2.take(sums.2, group)
          tops.3.take(sums.3, group)
        }
      }
    }
    return tops
  }

  /// The likeliest densities of a phone and part for a frame, the likeliest first.
  struct Top {
    private(set) var values = SIMD4<Float>(repeating: -.infinity)
    private(set) var indices = SIMD4<UInt8>.zero
    /// What the next one must exceed.
    private(set) var least = SIMD4<Float>(repeating: -.infinity)
    private var limit = -Float.infinity

    init() {}

    /// None yet; `none` is the number of a density that is not there.
    init(none: Int, above limit: Float) {
      indices = SIMD4(repeating: UInt8(truncatingIfNeeded: none))
      least = SIMD4(repeating: limit)
      self.limit = limit
    }

    /// Takes four densities where they are among the likeliest.
    @inline(__always)
    mutating func take(_ sums: SIMD4<Float>, _ group: Int) {
      guard any(sums .> least) else { return }
      for lane in 0..<4 where sums[lane] > least[0] {
        var place = 3
        while place > 0, sums[lane] > values[place - 1] {
          values[place] = values[place - 1]
          indices[place] = indices[place - 1]
          place -= 1
        }
        values[place] = sums[lane]
        indices[place] = UInt8(truncatingIfNeeded: group * 4 + lane)
        least = SIMD4(repeating: max(limit, values[3]))
      }
    }

    /// Makes likelihoods of the logarithms, against the best of all phones: no less than a floor,
    /// and below it, it does not count which density it is.
    mutating func normalise(by best: Float, floor: Float, _ least: Float, none: UInt8) {
      for lane in 0..<4 {
        if values[lane] - best > floor {
          values[lane] = expf(values[lane] - best)
        } else {
          values[lane] = least
          indices[lane] = none
        }
      }
    }
  }
}
