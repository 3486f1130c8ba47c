import Audio
import PipelineModel
import SoundEngine

/// `gate`: quiet stretches become quieter.
private struct GateStage: PlainStage, SoundFilterStage, SidechainParameters {
  let threshold: Decibels
  let attack: Seconds
  let hold: Seconds
  let release: Seconds
  let range: Decibels
  let detector: String
  let rmsWindow: Seconds
  let sidechainHighpass: Hertz?
  let lookAhead: Seconds
  let link: Double

  static let descriptor = StageDescriptor.soundFilter(
    "gate", revision: 2,
    summary: "Turn down what lies below a threshold: room noise between words",
    discussion: """
      The channels are linked, unless `link` says otherwise: the loudest opens the gate for all, \
      so that the stereo picture stands still. The gate stays open for the hold time after the \
      last peak above the threshold, and at least for 10 ms, half a period of 50 Hz, where peaks \
      count: no tone from there on closes it between its own crests. With `look-ahead` \
      it is open before the word begins.
      """,
    parameters: [
      ParameterDescriptor(
        "threshold", .number(.decibels, -120...0), .defaulted("-45 dB"),
        "the level at which it opens"),
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
    ] + .sidechain,
    shorthand: "threshold", report: "how long it was open, and how far it turned down")

  func makeProcessor(for format: AudioFormat) -> any Processor {
    Gate(
      Gate.Settings(
        threshold: threshold, attack: attack, hold: hold, release: release, range: range,
        sidechain: sidechain), format: format)
  }
}

extension StageRegistration { static let gate = StageRegistration(GateStage.self) }
