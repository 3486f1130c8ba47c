import Audio
import PipelineModel
import Platform
import SoundEngine

/// `deess`: sharp s-sounds become softer.
private struct DeEsserStage: DeclaredStage, SoundFilterStage {
  typealias Parameters = DeEsser.Settings

  static let descriptor = StageDescriptor.soundFilter(
    "deess", revision: 1,
    summary: "Soften sharp s-sounds, in their own band only",
    discussion: """
      A band-pass listens, and a bell of the same band is lowered by the law of a compressor \
      where it passes the threshold. What lies outside the band stays, and without sharp sounds \
      every bit does. The threshold is absolute: put it behind a stage that sets the level, or \
      set it by ear.
      """,
    parameters: [
      ParameterDescriptor(
        "threshold", .number(.decibels, -80...0), .defaulted("-30 dB"),
        "the peak level of the band above which it is lowered"),
      ParameterDescriptor(
        "low", .number(.hertz, 1000...20_000), .defaulted("5 kHz"), "where the band begins"),
      ParameterDescriptor(
        "high", .number(.hertz, 1500...24_000), .defaulted("9 kHz"), "where the band ends"),
      ParameterDescriptor(
        "ratio", .number(.ratio, 1...100), .defaulted("4:1"),
        "by how many dB the band rises for 1 dB at the output"),
      ParameterDescriptor(
        "range", .number(.decibels, 0...40), .defaulted("12 dB"),
        "how far the band is lowered at most"),
      ParameterDescriptor(
        "attack", .number(.milliseconds, 0.01...100), .defaulted("1 ms"),
        "the time constant for rising levels"),
      ParameterDescriptor(
        "release", .number(.milliseconds, 1...1000), .defaulted("40 ms"),
        "the time constant for falling levels"),
    ],
    shorthand: "threshold", report: "how far the band was lowered")

  private let settings: DeEsser.Settings

  init(_ parameters: DeEsser.Settings) throws(SpoolError) {
    guard parameters.low < parameters.high else {
      throw SpoolError(
        "deess needs a band that begins below its end",
        reason: "low is \(parameters.low.value) Hz and high is \(parameters.high.value) Hz",
        advice: "low: 5 kHz, high: 9 kHz")
    }
    settings = parameters
  }

  func makeProcessor(for format: AudioFormat) -> any Processor {
    DeEsser(settings, format: format)
  }
}

extension StageRegistration { static let deEsser = StageRegistration(DeEsserStage.self) }
