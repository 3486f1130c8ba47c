public import AudioModel

/// Mains hum as it was found in a recording.
public struct Hum: Hashable, Sendable, Codable {
  /// Its fundamental, as exactly as the recording shows it.
  public var frequency: Hertz
  /// By how many dB each harmonic, from the fundamental on, stands out of its neighbourhood.
  public var prominences: [Decibels]

  /// Wraps what was found.
  public init(frequency: Hertz, prominences: [Decibels]) {
    self.frequency = frequency
    self.prominences = prominences
  }

  /// From how many dB on a line counts as one.
  public static let audible = Decibels(9)
}
