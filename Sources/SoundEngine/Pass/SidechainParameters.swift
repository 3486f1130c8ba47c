package import Audio
package import PipelineModel

/// The parameters of a side chain, as `gate` and `compress` have them in common.
package enum SidechainParameters {
  /// What they are called, and what they take.
  package static let descriptors = [
    ParameterDescriptor(
      "detector", .choice(["peak", "rms"]), .defaulted("peak"),
      "whether peaks count, or the mean power, which is nearer to how loud it sounds"),
    ParameterDescriptor(
      "rms-window", .number(.milliseconds, 0.1...1000), .defaulted("10 ms"),
      "the time constant of the mean, with detector: rms"),
    ParameterDescriptor(
      "sidechain-highpass", .number(.hertz, 10...20_000), .optional,
      "listen only to what lies above: rumble and plosives then do not count"),
    ParameterDescriptor(
      "look-ahead", .number(.milliseconds, 0...100), .defaulted("0 ms"),
      "how long before its cause the gain moves"),
    ParameterDescriptor(
      "link", .number(.percent, 0...100), .defaulted("100 %"),
      "how far every channel follows the loudest; 0 % treats each for itself"),
  ]

  /// The side chain that they describe.
  package static func sidechain(
    detector: String, window: Seconds, highPass: Hertz?, lookAhead: Seconds, link: Double
  ) -> Sidechain {
    Sidechain(
      detector == "rms" ? .rms(window: window) : .peak, highPass: highPass, link: link,
      lookAhead: lookAhead)
  }
}
