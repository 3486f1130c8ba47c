internal import AudioModel
internal import DSP

/// The bands in which speech is compared. It belongs to one thread at a time.
final class SpeechSpectrum {
  private let spectrum: MelSpectrum

  private static let bandCount = 24
  /// Up to what most recordings hold; synthetic voices have little above.
  private static let range = Hertz(100)...Hertz(6500)

  /// Prepares for samples of a rate.
  init(sampleRate: Int) {
    spectrum = MelSpectrum(
      sampleRate: Hertz(Double(sampleRate)), bandCount: Self.bandCount, range: Self.range)
  }

  /// The powers of a sound's bands.
  func powers(of sound: [Int16]) -> BandPowers {
    BandPowers(bandCount: Self.bandCount, values: spectrum.powers(of: sound.span))
  }
}
