import Audio
import PipelineModel
import Platform
import SoundEngine

/// `silence`: finds pauses, and shortens those that are too long.
private struct SilenceStage: DeclaredStage, TimeMovingStage, LevelKeepingStage {
  struct Parameters: Codable, Sendable {
    let threshold: Decibels
    let minimum: Seconds
    let maximum: Seconds?
    let padding: Seconds?
    let crossfade: Seconds
  }

  static let descriptor = timeChange(
    "silence", revision: 1,
    summary: "Find pauses, and shorten those that are too long",
    discussion: """
      It is silent where no sample of any channel reaches the threshold for the minimum time. With \
      `maximum`, what is longer is shortened to that, at the beginning and the end of the sound \
      too; `padding` of it lies directly before the sound that follows, so that soft beginnings \
      are kept, and the rest behind the sound before. Without `maximum` nothing is changed. All \
      else stays as it is, bit for bit. The measurement also lists the `silences`, in the old \
      time.
      """,
    parameters: [
      ParameterDescriptor(
        "threshold", .number(.decibels, -120...0), .defaulted("-45 dB"),
        "the peak level that is no longer silence"),
      ParameterDescriptor(
        "minimum", .number(.seconds, 0.01...60), .defaulted("0.5 s"),
        "how long it has to be quiet"),
      ParameterDescriptor(
        "maximum", .number(.seconds, 0...60), .optional, "what longer silences are shortened to"),
      ParameterDescriptor(
        "padding", .number(.milliseconds, 0...60_000), .optional,
        "how much of the maximum lies before the sound that follows; without it 100 ms, or all"),
      ParameterDescriptor(
        "crossfade", .number(.milliseconds, 0...1000), .defaulted("10 ms"),
        "how long both ends of what is taken out sound together; at most the padding"),
    ],
    shorthand: "maximum")

  private let settings: SilenceShortener.Settings

  init(_ parameters: Parameters) throws(SpoolError) {
    if let maximum = parameters.maximum, let padding = parameters.padding, padding > maximum {
      throw SpoolError(
        "silence keeps a padding of \(padding.words) of a maximum of \(maximum.words)",
        advice: "a padding that is no longer than the maximum")
    }
    settings = SilenceShortener.Settings(
      threshold: parameters.threshold, minimum: parameters.minimum, maximum: parameters.maximum,
      padding: parameters.padding ?? min(Seconds(0.1), parameters.maximum ?? Seconds(0.1)),
      crossfade: parameters.crossfade)
  }

  func makeProcessor(for format: AudioFormat) -> any Processor {
    SilenceShortener(settings, format: format)
  }

  func outline(after stream: SoundOutline) -> SoundOutline {
    var outline = stream
    // How much is silent is unknown beforehand.
    if settings.maximum != nil { outline.isGuessed = true }
    return outline
  }
}

extension StageRegistration { static let silence = StageRegistration(SilenceStage.self) }
