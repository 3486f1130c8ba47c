/// The gain of one bin of a noisy spectrum: a Wiener filter whose signal-to-noise ratio is found
/// by the decision-directed rule of Ephraim and Malah (IEEE ASSP-32, 1984), which keeps single
/// bins from flickering ("musical noise").
struct WienerGain {
  /// How much the last piece counts in the ratio.
  static let memory: Float = 0.98

  /// The least gain.
  let floor: Float

  /// The gains for four bins.
  /// - Parameters:
  ///   - power: their squared magnitudes.
  ///   - inverseNoise: one over the noise's mean.
  ///   - past: the power that was left of the last piece, over the noise; what is left of this
  ///     one afterwards.
  @inline(__always)
  func gains(
    power: SIMD4<Float>, inverseNoise: SIMD4<Float>, past: inout SIMD4<Float>
  ) -> SIMD4<Float> {
    let one = SIMD4<Float>(repeating: 1)
    // Bounded, so that no product below leaves the numbers.
    let posterior = lesser(power * inverseNoise, SIMD4(repeating: 1e12))
    let fresh = greater(posterior - one, .zero)
    let prior =
      past * SIMD4(repeating: Self.memory) + fresh * SIMD4(repeating: 1 - Self.memory)
    let gain = prior / (prior + one)
    // Ratios that no longer matter go, before they become subnormal.
    let rest = gain * gain * posterior
    past = rest.replacing(with: 0, where: rest .< SIMD4(repeating: 1e-12))
    return greater(gain, SIMD4(repeating: floor))
  }

  @inline(__always)
  private func greater(_ a: SIMD4<Float>, _ b: SIMD4<Float>) -> SIMD4<Float> {
    SIMD4(
      LinkedLevel.greater(a[0], b[0]), LinkedLevel.greater(a[1], b[1]),
      LinkedLevel.greater(a[2], b[2]), LinkedLevel.greater(a[3], b[3]))
  }

  @inline(__always)
  private func lesser(_ a: SIMD4<Float>, _ b: SIMD4<Float>) -> SIMD4<Float> {
    SIMD4(
      LinkedLevel.lesser(a[0], b[0]), LinkedLevel.lesser(a[1], b[1]),
      LinkedLevel.lesser(a[2], b[2]), LinkedLevel.lesser(a[3], b[3]))
  }
}
