import AudioModel
import DSP
import PipelineModel

/// How one track gives way to another, as a pipeline writes it.
struct DuckParameters: Codable, Sendable {
  let track: String
  let by: String
  let threshold: Decibels
  let amount: Decibels
  let attack: Seconds
  let hold: Seconds
  let release: Seconds
  let lookAhead: Seconds

  /// What they are called, and what they take.
  static let descriptors = [
    ParameterDescriptor(
      "track", .text(maximumLength: 100), .required, "what is turned down: a name or a number"),
    ParameterDescriptor(
      "by", .text(maximumLength: 100), .required, "what is listened to, behind its fader"),
    ParameterDescriptor(
      "threshold", .number(.decibels, -100...0), .defaulted("-40 dB"),
      "the level at which it counts as heard"),
    ParameterDescriptor(
      "amount", .number(.decibels, -60...0), .defaulted("-12 dB"), "how far it is turned down"),
    ParameterDescriptor(
      "attack", .number(.milliseconds, 0...2000), .defaulted("60 ms"), "how fast it goes down"),
    ParameterDescriptor(
      "hold", .number(.milliseconds, 0...10_000), .defaulted("400 ms"),
      "how long it stays down after the last sound"),
    ParameterDescriptor(
      "release", .number(.milliseconds, 1...10_000), .defaulted("500 ms"),
      "how fast it comes back"),
    ParameterDescriptor(
      "look-ahead", .number(.milliseconds, 0...2000), .defaulted("150 ms"),
      "how long before the sound it begins to go down"),
  ]

  /// The ducking that they describe.
  var duck: MixSettings.Duck {
    MixSettings.Duck(
      track: track, by: by,
      gain: DuckingGain.Settings(
        threshold: threshold, amount: amount, attack: attack, hold: hold, release: release),
      lookAhead: lookAhead)
  }
}
