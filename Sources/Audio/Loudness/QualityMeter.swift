import Glibc

/// Measures what recordings are accepted or refused for, in one pass: levels, silence and noise, each
/// only if it is wanted.
package final class QualityMeter: Analyser {
  /// What to measure besides the length.
  package struct Scope: Hashable, Sendable {
    /// Whether the levels are wanted.
    package var hasLevels = false
    /// Whether the loudness of one channel is that of two speakers.
    package var isDualMono = false
    /// What counts as silence; nil if its share is not wanted.
    package var silence: SilenceShortener.Settings?
    /// Whether the signal-to-noise ratio is wanted.
    package var hasNoise = false

    package init() {}
  }

  package struct Finding: Hashable, Sendable, Codable {
    package var frames: Frames
    /// Nil if they are not wanted.
    package var levels: Levels?
    /// The share of the time in silences: 0…1; nil if it is not wanted.
    package var silence: Double?
    /// 10 · log₁₀((*P* − *N*) / *N*), where *P* is the mean power of all sound, pauses included, and
    /// *N* that of the noise: the quietest 0.4 s free of digital silence, as ``NoiseProfile`` has
    /// it. *P* contains the noise, so it is subtracted. Nil if it is not wanted, or if the noise
    /// cannot be told from the signal: the sound is nowhere quieter than on average.
    package var signalToNoise: Decibels?
  }

  private let format: AudioFormat
  private let levels: LevelMeter?
  private let noise: NoiseProfile.Meter?
  private let silence: SilenceShortener?
  private var frames = Frames.zero

  /// What the search for silence returns, which is the sound itself.
  private var block: AudioBuffer
  private var output: AudioBuffer
  private static let blockSize = Frames(4096)

  package init(_ scope: Scope, format: AudioFormat) {
    self.format = format
    levels = scope.hasLevels ? LevelMeter(format: format, isDualMono: scope.isDualMono) : nil
    noise = scope.hasNoise ? NoiseProfile.Meter(format: format) : nil
    silence = scope.silence.map { settings in
      var settings = settings
      settings.maximum = nil
      return SilenceShortener(settings, format: format)
    }
    let size = silence == nil ? .zero : Self.blockSize
    block = AudioBuffer(channelCount: format.channelCount, capacity: size)
    output = AudioBuffer(
      channelCount: format.channelCount, capacity: silence?.capacity(for: size) ?? .zero)
  }

  package func analyse(_ input: borrowing AudioBuffer) {
    levels?.analyse(input)
    noise?.analyse(input)
    frames += input.frameCount
    guard let silence else { return }
    var start = Frames.zero
    while start < input.frameCount {
      let count = min(Self.blockSize, input.frameCount - start)
      block.copy(from: input, start: start, count: count)
      silence.process(block, into: &output)
      start += count
    }
  }

  package func finding() -> Finding {
    var finding = Finding(frames: frames)
    finding.levels = levels?.finding()
    if let silence {
      silence.finish(into: &output)
      let report = silence.report()
      let quiet = report.silences.reduce(0) { $0 + $1.to.value - $1.from.value }
      finding.silence = report.before.value > 0 ? quiet / report.before.value : 0
    }
    finding.signalToNoise = noise.flatMap { Self.ratio($0.finding()) }
    return finding
  }

  private static func ratio(_ finding: NoiseProfile.Meter.Finding) -> Decibels? {
    guard let level = finding.level, let noise = finding.noise?.level else { return nil }
    let (all, quiet) = (pow(10, level.value / 10), pow(10, noise.value / 10))
    let ratio = (all - quiet) / quiet
    return ratio.isFinite && ratio > 0 ? Decibels(10 * log10(ratio)) : nil
  }

  /// The states of the parts.
  package func code(_ coder: inout StateCoder) throws(SnapshotError) {
    try coder.pass(&frames.count, in: 0...)
    if let levels { try coder.pass(part: levels) }
    if let noise { try coder.pass(part: noise) }
    if let silence { try coder.pass(part: silence) }
  }
}
