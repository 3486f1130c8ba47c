import AudioModel
import DSP
import PipelineModel

/// `gate`: quiet stretches become quieter.
struct GateStage: SoundFilterStage {
  struct Parameters: Codable, Sendable {
    let threshold: Decibels
    let attack: Seconds
    let hold: Seconds
    let release: Seconds
    let range: Decibels
  }

  static let descriptor = StageDescriptor.soundFilter(
    "gate", revision: 1,
    summary: "Turn down what lies below a threshold: room noise between words",
    discussion: """
      The channels are linked: the loudest opens the gate for all, so that the stereo picture \
      stands still. The gate stays open for the hold time after the last peak above the threshold.
      """,
    parameters: [
      ParameterDescriptor(
        "threshold", .number(.decibels, -120...0), .defaulted("-45 dB"),
        "the peak level at which it opens"),
      ParameterDescriptor(
        "attack", .number(.milliseconds, 0.01...500), .defaulted("2 ms"), "how fast it opens"),
      ParameterDescriptor(
        "hold", .number(.milliseconds, 0...5000), .defaulted("60 ms"),
        "how long it stays open after the last peak"),
      ParameterDescriptor(
        "release", .number(.milliseconds, 1...10_000), .defaulted("120 ms"), "how fast it closes"),
      ParameterDescriptor(
        "range", .number(.decibels, -120...0), .defaulted("-24 dB"),
        "the gain of the closed gate"),
    ],
    shorthand: "threshold")

  private let settings: Gate.Settings

  init(_ parameters: Parameters) {
    settings = Gate.Settings(
      threshold: parameters.threshold, attack: parameters.attack, hold: parameters.hold,
      release: parameters.release, range: parameters.range)
  }

  func makeProcessor(for format: AudioFormat) -> any Processor { Gate(settings, format: format) }
}
