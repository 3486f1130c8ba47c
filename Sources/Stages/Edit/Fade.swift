import Audio
import PipelineModel
import SoundEngine

/// `fade`: in at the beginning, out at the end.
private struct FadeStage: PlainStage, SoundFilterStage, LevelKeepingStage {
  let fadeIn: Seconds
  let fadeOut: Seconds
  let curve: FadeCurve

  enum CodingKeys: String, CodingKey {
    case fadeIn = "in"
    case fadeOut = "out"
    case curve
  }

  static let descriptor = StageDescriptor.soundFilter(
    "fade", revision: 1,
    summary: "Fade in at the beginning and out at the end",
    discussion: """
      The fade-out ends with the sound, wherever that turns out to be: its length is held back \
      until the stream ends. The curves: `linear`; `s-curve`, half a cosine; `exponential`, an \
      even number of decibels a second, over 100 dB; `equal-power`, a quarter of a sine. A \
      fade-out that is longer than the sound takes all of it, and a fade-in does not arrive; where \
      both meet, both act.
      """,
    parameters: [
      ParameterDescriptor(
        "in", .number(.seconds, 0...60), .defaulted("0 s"), "the length of the fade-in"),
      ParameterDescriptor(
        "out", .number(.seconds, 0...60), .defaulted("0 s"), "the length of the fade-out"),
      ParameterDescriptor(
        "curve", .choice(FadeCurve.allCases.map(\.rawValue)), .defaulted("linear"),
        "how the level goes from nothing to full"),
    ])

  func makeProcessor(for format: AudioFormat) -> any Processor {
    Fade(fadeIn: fadeIn, fadeOut: fadeOut, curve: curve, format: format)
  }
}

extension StageRegistration { static let fade = StageRegistration(FadeStage.self) }
