/// Reduces loud passages by a ratio, with a soft knee.
///
/// The design is the feed-forward compressor of Giannoulis, Massberg and Reiss, "Digital Dynamic
/// Range Compressor Design" (JAES 60, 2012): each frame's level passes the static curve in
/// decibels, and the gain reduction a smooth branching detector. Below the knee, without make-up
/// gain, it is bit-transparent.
///
/// The peak level is the greatest magnitude of the last 10 ms, L[n] = max
/// x[n − k]
///  for 0 ≤ k < 10 ms. For a steady sine from 50 Hz up this is its amplitude, so its gain is
/// constant, without ripple distortion, for any attack and release. Attack starts with the peak,
/// release 10 ms after it. A tone above a twentieth of the sample rate whose period is a whole
/// number of frames can hide its crests between samples; its level is then that of its samples.
package final class Compressor: ReportingProcessor {
  package struct Settings: Hashable, Sendable {
    /// The level, relative to full scale, above which the gain is reduced.
    package var threshold: Decibels
    /// dB of input per dB of output, at least 1; infinite for a constant output.
    package var ratio: Double
    /// The width of the bend around the threshold, half on each side; 0 for a hard corner.
    package var knee: Decibels
    /// The time constant of a growing reduction, in dB; zero is immediate.
    package var attack: Seconds
    /// The time constant of a shrinking reduction, in dB; zero is immediate. Peaks are held for 10
    /// ms first.
    package var release: Seconds
    /// A fixed gain after compression; clamped to ±200 dB.
    package var makeUp: Decibels
    /// The share of the compressed signal in the result; clamped to 0…1.
    package var mix: Double
    package var sidechain: Sidechain

    package init(
      threshold: Decibels, ratio: Double, knee: Decibels, attack: Seconds, release: Seconds,
      makeUp: Decibels = Decibels(0), mix: Double = 1, sidechain: Sidechain = Sidechain()
    ) {
      self.threshold = threshold
      self.ratio = ratio
      self.knee = knee
      self.attack = attack
      self.release = release
      self.makeUp = makeUp
      self.mix = mix
      self.sidechain = sidechain
    }
  }

  package let outputFormat: AudioFormat
  package var latency: Frames { Frames(gain.delay) }

  private let gain: LevelDrivenGain<CompressorLaw>

  package init(_ settings: Settings, format: AudioFormat) {
    outputFormat = format
    gain = LevelDrivenGain(
      CompressorLaw(settings, sampleRate: format.sampleRate), settings.sidechain,
      holdsPeaks: true, format: format)
  }

  package func process(_ input: borrowing AudioBuffer, into output: inout AudioBuffer) {
    gain.process(input, into: &output)
  }

  package func finish(into output: inout AudioBuffer) { gain.finish(into: &output) }

  /// The reduction without make-up gain and mix.
  package func report() -> GainReduction {
    gain.lanes.reduce(ReductionStatistics()) { $0.joined($1.statistics) }.figures
  }

  /// The gain reduction, the detector's state, what was counted, and the frames held back.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) { try gain.code(&coder) }
}

/// A compressor's gain law: the static curve and a smooth branching detector.
struct CompressorLaw: GainLaw {
  static var run: Int { 256 }

  private let curve: CompressionCurve
  private let smoothing: BranchingSmoother
  private let makeUp: Float
  /// The share of the compressed signal in the result.
  private let wet: Float

  /// The gain reduction after the last frame, in dB.
  var state = 0.0
  var statistics = ReductionStatistics()

  init(_ settings: Compressor.Settings, sampleRate: Hertz) {
    curve = CompressionCurve(
      threshold: settings.threshold, ratio: settings.ratio, knee: settings.knee)
    smoothing = BranchingSmoother(
      attack: settings.attack.step(at: sampleRate),
      release: settings.release.step(at: sampleRate))
    makeUp = Float(min(max(settings.makeUp.value, -200), 200))
    wet = Float(min(max(settings.mix, 0), 1))
  }

  @inline(__always)
  mutating func replaceLevelsByGains(_ values: UnsafeMutablePointer<Float>, count: Int) -> Bool {
    unsafe curve.replaceLevelsByReductions(values, count: count)
    state = unsafe smoothing.smooth(values, count: count, from: state, counting: &statistics)
    // A reduction this small is a gain of exactly 1.
    if makeUp == 0, unsafe LinkedLevel.peak(values, count: count) < 1e-8 { return false }
    unsafe replaceReductionsByGains(values, count: count)
    if wet != 1 {
      for index in 0..<count { unsafe values[index] = 1 - wet * (1 - values[index]) }
    }
    return true
  }

  /// From decibels to amplitude ratios, eight at a time.
  @inline(__always)
  private func replaceReductionsByGains(_ values: UnsafeMutablePointer<Float>, count: Int) {
    let makeUp = SIMD8<Float>(repeating: self.makeUp)
    // log₂ 10 / 20: decibels to octaves of amplitude.
    let scale = SIMD8<Float>(repeating: 0.166_096_405)
    let limit = SIMD8<Float>(repeating: 126)
    var index = 0
    while index < count {
      let octaves = unsafe (makeUp - LinkedLevel.load(values + index)) * scale
      let inside = LinkedLevel.greater(LinkedLevel.lesser(octaves, limit), 0 - limit)
      unsafe LinkedLevel.store(BinaryLogarithm.exp2(inside), at: values + index)
      index &+= 8
    }
  }
}
