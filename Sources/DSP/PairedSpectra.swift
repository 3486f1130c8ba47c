/// The spectra of two real channels that went through one complex transform, as real and imaginary
/// part.
enum PairedSpectra {
  /// Real and imaginary parts, with room for three numbers behind the last.
  typealias Parts = (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>)
  /// For each bin of a channel, one over the noise, and what was left of the last piece; with room
  /// for three numbers behind the bin at half the rate.
  typealias Bins = (inverseNoise: UnsafeMutablePointer<Float>, past: UnsafeMutablePointer<Float>)

  private typealias Four = SIMD4<Float>

  /// Takes the two spectra apart, scales their bins, and puts them together again.
  @unsafe static func scale(
    _ parts: Parts, length: Int, by gain: WienerGain, left: Bins, right: Bins
  ) {
    let (re, im) = unsafe parts
    // The first bin is its own mirror image, and is read as such behind the last.
    unsafe (re[length], im[length]) = (re[0], im[0])
    var bin = 0
    while bin < length / 2 {
      let mirror = length - bin - 3
      let a = unsafe (load(re + bin), load(im + bin))
      let b = unsafe (reversed(load(re + mirror)), reversed(load(im + mirror)))
      // With z = l + i·r: l = (z + z̄ mirrored) / 2, r = (z − z̄ mirrored) / 2i.
      let half = Four(repeating: 0.5)
      let l = ((a.0 + b.0) * half, (a.1 - b.1) * half)
      let r = ((a.1 + b.1) * half, (b.0 - a.0) * half)
      let g = unsafe gains(l, gain, left, bin)
      let h = unsafe gains(r, gain, right, bin)
      unsafe store(g * l.0 - h * r.1, re + bin)
      unsafe store(g * l.1 + h * r.0, im + bin)
      unsafe store(reversed(g * l.0 + h * r.1), re + mirror)
      unsafe store(reversed(h * r.0 - g * l.1), im + mirror)
      bin += 4
    }
    // The bin at half the rate mirrors itself: its real part is the left's, the other the right's.
    let middle = length / 2
    let g = unsafe gains((Four(repeating: re[middle]), .zero), gain, left, middle)
    let h = unsafe gains((Four(repeating: im[middle]), .zero), gain, right, middle)
    unsafe re[middle] *= g[0]
    unsafe im[middle] *= h[0]
  }

  @inline(__always)
  @unsafe private static func gains(
    _ value: (Four, Four), _ gain: WienerGain, _ bins: Bins, _ bin: Int
  ) -> Four {
    var rest = unsafe load(bins.past + bin)
    let result = unsafe gain.gains(
      power: value.0 * value.0 + value.1 * value.1, inverseNoise: load(bins.inverseNoise + bin),
      past: &rest)
    unsafe store(rest, bins.past + bin)
    return result
  }

  @inline(__always)
  @unsafe private static func load(_ samples: UnsafeMutablePointer<Float>) -> Four {
    unsafe UnsafeRawPointer(samples).loadUnaligned(as: Four.self)
  }

  @inline(__always)
  @unsafe private static func store(_ value: Four, _ samples: UnsafeMutablePointer<Float>) {
    unsafe UnsafeMutableRawPointer(samples).storeBytes(of: value, as: Four.self)
  }

  @inline(__always)
  private static func reversed(_ value: Four) -> Four {
    Four(value[3], value[2], value[1], value[0])
  }
}
