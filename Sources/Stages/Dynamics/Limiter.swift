import Audio
import PipelineModel
import SoundEngine

/// `limit`: no true peak above a ceiling.
private struct LimiterStage: DeclaredStage, SoundFilterStage, CeilingStage {
  typealias Parameters = Limiter.Settings

  static let descriptor = StageDescriptor.soundFilter(
    "limit", revision: 4,
    summary: "Keep every true peak below a ceiling",
    discussion: """
      Looks ahead, so that the gain is down before the peak comes. Peaks are found between the \
      samples as well, by eightfold oversampling, twice what ITU-R BS.1770-4 asks for, up to half \
      the sample rate, and as loudness meters with softer filters show them. Sound that \
      stays below the ceiling passes untouched, bit for bit. All channels get the same gain, so \
      that the stereo picture stands still.
      """,
    parameters: [
      ParameterDescriptor(
        "ceiling", .number(.decibelsTruePeak, -60...0), .defaulted("-1 dBTP"),
        "the highest true peak that may leave"),
      ParameterDescriptor(
        "look-ahead", .number(.milliseconds, 0.5...50), .defaulted("5 ms"),
        "how early it begins to turn down"),
      ParameterDescriptor(
        "release", .number(.milliseconds, 1...5000), .defaulted("100 ms"),
        "how fast it recovers"),
    ],
    shorthand: "ceiling", report: "how far it turned down")

  private let settings: Limiter.Settings

  init(_ parameters: Limiter.Settings) { settings = parameters }

  var promise: LevelPromise? { LevelPromise(truePeak: settings.ceiling) }

  func makeProcessor(for format: AudioFormat) -> any Processor {
    Limiter(settings, format: format)
  }
}

extension StageRegistration { static let limiter = StageRegistration(LimiterStage.self) }
