import Glibc

/// Reduces steady noise, frequency by frequency.
///
/// Windows of 43 ms with 75 % overlap pass through a Fourier transform, a Wiener gain per bin, and
/// the inverse transform. Two channels share one complex transform.
package final class Denoiser: Processor {
  package struct Settings: Hashable, Sendable, Codable {
    /// The greatest noise reduction; clamped to 0…60 dB. The residual noise masks artefacts.
    package var reduction: Decibels
    /// How many dB above its profile the noise is assumed to be: a higher value removes more noise
    /// and more of the sound. Clamped to ±20 dB.
    package var margin: Decibels

    package init(reduction: Decibels = Decibels(12), margin: Decibels = Decibels(3)) {
      self.reduction = reduction
      self.margin = margin
    }
  }

  package let outputFormat: AudioFormat
  /// One window.
  package var latency: Frames { Frames(window.length) }

  private let window: SpectralWindow
  private let transform: FourierTransform
  private let gain: WienerGain
  private let shape: Scratch<Float>
  /// 1 / noise for each bin of each channel, padded by four for vector reads.
  private let inverseNoise: Scratch<Float>
  /// For each bin, the residual power of the last window over the noise.
  private let past: Scratch<Float>
  /// The transform of a pair of channels, with the first bin repeated at the end.
  private let real, imaginary: Scratch<Float>
  /// For each channel the newest window.
  private var rows: SampleRows
  /// For each channel the sum of incomplete windows.
  private let sums: Scratch<Float>
  private let pairCount: Int
  private let rowStride: Int
  /// Frames still to be dropped at the start: those of the first windows before the sound.
  private var leading: Int
  /// Frames taken and not yet returned.
  private var pending = 0

  package init(_ settings: Settings, noise: NoiseProfile, format: AudioFormat) {
    outputFormat = format
    window = SpectralWindow(sampleRate: format.sampleRate)
    let window = window
    transform = FourierTransform(count: window.length)
    shape = Scratch(repeating: 0, count: window.length)
    window.fill(shape)
    let reduction = Decibels(-min(max(settings.reduction.value, 0), 60))
    gain = WienerGain(floor: Float(reduction.amplitude))
    pairCount = (format.channelCount + 1) / 2
    rowStride = window.length / 2 + 4
    inverseNoise = Scratch(repeating: 1e12, count: 2 * pairCount * rowStride)
    past = Scratch(repeating: 0, count: 2 * pairCount * rowStride)
    real = Scratch(repeating: 0, count: window.length + 4)
    imaginary = Scratch(repeating: 0, count: window.length + 4)
    rows = SampleRows(
      channelCount: format.channelCount, length: window.length, count: window.length - window.hop)
    sums = Scratch(repeating: 0, count: window.length * format.channelCount)
    leading = window.length - window.hop
    let raised = Decibels(min(max(settings.margin.value, -20), 20)).amplitude
    for (channel, spectrum) in noise.spectra.prefix(format.channelCount).enumerated()
    where spectrum.count == window.binCount {
      for (bin, power) in spectrum.enumerated() {
        let inverse = 1 / (max(power, 1e-20) * Float(raised * raised))
        inverseNoise[channel * rowStride + bin] = inverse.isFinite ? inverse : 1e12
      }
    }
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    output.frameCount = .zero
    var start = 0
    while start < input.frameCount.count {
      let count = rows.append(input, from: start)
      start += count
      pending += count
      if rows.isFull { treatPiece(&output) }
    }
  }

  /// Returns the frames held back, as if silence followed.
  package func finish(into output: inout AudioBuffer) {
    output.frameCount = .zero
    while pending > 0 {
      rows.appendSilence(rows.length - rows.count)
      treatPiece(&output)
    }
  }

  /// Processes a full window, and returns the frames that no later window reaches.
  private func treatPiece(_ output: inout AudioBuffer) {
    for pair in 0..<pairCount { treatPair(pair) }
    let isGiven = leading == 0
    if !isGiven { leading -= window.hop }
    let count = isGiven ? min(window.hop, pending) : 0
    pending -= count
    let offset = output.frameCount.count
    output.frameCount += Frames(count)
    let rest = window.length - window.hop
    for channel in 0..<outputFormat.channelCount {
      let sum = unsafe sums.start + channel * window.length
      unsafe (output.baseAddress(ofChannel: channel) + offset).update(from: sum, count: count)
      unsafe sum.update(from: sum + window.hop, count: rest)
      unsafe (sum + rest).update(repeating: 0, count: window.hop)
    }
    rows.drop(window.hop)
  }

  private func treatPair(_ pair: Int) {
    let length = window.length
    let hasRight = 2 * pair + 1 < outputFormat.channelCount
    let left = unsafe rows[2 * pair]
    for index in 0..<length { unsafe real.start[index] = left[index] * shape.start[index] }
    if hasRight {
      let right = unsafe rows[2 * pair + 1]
      for index in 0..<length { unsafe imaginary.start[index] = right[index] * shape.start[index] }
    } else {
      unsafe imaginary.start.update(repeating: 0, count: length)
    }
    unsafe transform.transform(real.start, imaginary.start)
    let row = 2 * pair * rowStride
    unsafe PairedSpectra.scale(
      (real.start, imaginary.start), length: length, by: gain,
      left: (inverseNoise.start + row, past.start + row),
      right: (inverseNoise.start + (row + rowStride), past.start + (row + rowStride)))
    // Swapping the parts gives the inverse.
    unsafe transform.transform(imaginary.start, real.start)
    // The squared windows add up to 2; a transform and its inverse, to the length.
    let scale = 0.5 / Float(length)
    let leftSum = unsafe sums.start + 2 * pair * length
    for index in 0..<length {
      unsafe leftSum[index] += real.start[index] * (shape.start[index] * scale)
    }
    guard hasRight else { return }
    let rightSum = unsafe leftSum + length
    for index in 0..<length {
      unsafe rightSum[index] += imaginary.start[index] * (shape.start[index] * scale)
    }
  }

  /// The newest window, the incomplete sums, and the residual of the last window.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    var filled = rows.count
    try coder.pass(&filled, in: window.length - window.hop..<window.length)
    try coder.pass(&leading, in: 0...)
    try coder.pass(&pending, in: 0...window.length)
    try rows.code(&coder, count: filled, passed: rows.length)
    unsafe try coder.pass(samples: sums.start, count: sums.count)
    unsafe try coder.pass(samples: past.start, count: past.count)
  }
}

/// The spectra of two real channels in one complex transform, as real and imaginary parts.
enum PairedSpectra {
  /// Real and imaginary parts, padded by three numbers.
  typealias Parts = (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>)
  /// For each bin of a channel, 1 / noise and the residual of the last window; padded by three
  /// numbers behind the Nyquist bin.
  typealias Bins = (inverseNoise: UnsafeMutablePointer<Float>, past: UnsafeMutablePointer<Float>)

  private typealias Four = SIMD4<Float>

  /// Separates the two spectra, scales their bins, and recombines them.
  @unsafe static func scale(
    _ parts: Parts, length: Int, by gain: WienerGain, left: Bins, right: Bins
  ) {
    let (re, im) = unsafe parts
    // The first bin is its own mirror image, and is read as such after the last.
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
    // The Nyquist bin mirrors itself: its real part is the left's, its imaginary part the right's.
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

/// A Wiener gain per bin; the signal-to-noise ratio follows the decision-directed rule of Ephraim
/// and Malah (IEEE ASSP-32, 1984), which prevents flickering bins ("musical noise").
struct WienerGain {
  /// The weight of the last window in the ratio.
  static let memory: Float = 0.98

  /// The least gain.
  let floor: Float

  /// The gains of four bins.
  /// - Parameters:
  ///   - power: their squared magnitudes.
  ///   - inverseNoise: 1 / mean noise power.
  ///   - past: the residual power of the last window over the noise; updated to this window's.
  @inline(__always)
  func gains(
    power: SIMD4<Float>, inverseNoise: SIMD4<Float>, past: inout SIMD4<Float>
  ) -> SIMD4<Float> {
    let one = SIMD4<Float>(repeating: 1)
    // Bounded, so that no product below overflows.
    let posterior = lesser(power * inverseNoise, SIMD4(repeating: 1e12))
    let fresh = greater(posterior - one, .zero)
    let prior =
      past * SIMD4(repeating: Self.memory) + fresh * SIMD4(repeating: 1 - Self.memory)
    let gain = prior / (prior + one)
    // Clears negligible ratios before they become subnormal.
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
