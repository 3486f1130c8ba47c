import AudioModel
import DSP

/// What the decision rests on; an absent figure is that of silence.
struct NormalizeLevels: Codable, Sendable {
  private(set) var integratedLoudness: LUFS?
  private(set) var truePeak: Decibels?
  private(set) var samplePeak: Decibels?

  init(_ loudness: Loudness) {
    integratedLoudness = loudness.integrated
    truePeak = loudness.peaks.truePeak
    samplePeak = loudness.peaks.samplePeak
  }

  /// The levels behind a limiter that had something to do.
  mutating func limit(to ceiling: Decibels, reaching loudness: LUFS?) {
    integratedLoudness = loudness
    truePeak = ceiling
    samplePeak = nil
  }

  /// The levels behind a gain.
  func amplified(by gain: Decibels) -> NormalizeLevels {
    var result = self
    result.integratedLoudness?.value += gain.value
    result.truePeak?.value += gain.value
    result.samplePeak?.value += gain.value
    return result
  }
}
