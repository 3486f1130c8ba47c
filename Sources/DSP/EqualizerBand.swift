public import AudioModel

/// One filter of an equalizer: a shape at a frequency.
///
/// The filters are the second-order sections of Robert Bristow-Johnson's "Cookbook formulae for
/// audio equalizer biquad filter coefficients", in the form that takes Q.
public struct EqualizerBand: Hashable, Sendable, Codable {
  /// What a band does to the spectrum.
  public enum Shape: String, Hashable, Sendable, Codable, CaseIterable {
    /// Raises or lowers a bell around the frequency by the gain.
    case peak
    /// Raises or lowers everything below the frequency by the gain; half of it at the frequency.
    case lowShelf
    /// Raises or lowers everything above the frequency by the gain; half of it at the frequency.
    case highShelf
    /// Removes what lies below the frequency, 12 dB an octave.
    case highPass
    /// Removes what lies above the frequency, 12 dB an octave.
    case lowPass
    /// Removes the frequency itself.
    case notch
  }

  /// What the band does.
  public var shape: Shape
  /// The centre or corner. Above 0.499 of the sample rate it is taken as that, below 0.01 Hz as
  /// 0.01 Hz.
  public var frequency: Hertz
  /// How far peak and shelves raise (or, negative, lower); without meaning for the others. Taken
  /// within ±120 dB.
  public var gain: Decibels
  /// The quality: centre frequency over bandwidth for peak and notch, steepness at the corner for
  /// the others (0.7071 is the steepest without a bump). Taken within 0.01…1,000.
  public var q: Double

  /// Describes a band; `q` defaults to 1 for a peak and 1/√2 for the other shapes.
  public init(
    _ shape: Shape, frequency: Hertz, gain: Decibels = Decibels(0), q: Double? = nil
  ) {
    self.shape = shape
    self.frequency = frequency
    self.gain = gain
    self.q = q ?? (shape == .peak ? 1 : 0.5.squareRoot())
  }

  /// What the band does to a steady tone of `frequency` in sound of `sampleRate`: the magnitude of
  /// its transfer function, exact for the filter that runs; −∞ where nothing comes through.
  public func response(at frequency: Hertz, sampleRate: Hertz) -> Decibels {
    BiquadCoefficients(self, sampleRate: sampleRate).response(
      atRadians: 2 * .pi * frequency.value / sampleRate.value)
  }
}
