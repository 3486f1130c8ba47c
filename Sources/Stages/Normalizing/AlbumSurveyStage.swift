import AudioModel
import DSP
import PipelineEngine
import PipelineModel

/// What a batch runs in the place of `normalize` to find the gain of an album: it hears a recording,
/// as it is or behind a gain and a limiter.
struct AlbumSurveyStage: DeclaredStage, SoundSinkStage {
  struct Parameters: Codable, Sendable {
    let gain: Decibels?
    let ceiling: Decibels?
  }

  static let descriptor = StageDescriptor(
    kind: "normalize-survey", revision: 1,
    summary: "Measure how a recording counts in the loudness of its album",
    discussion: "Run by a batch before its first file, with normalize: { album: true }.",
    flow: .streaming(.sound, .sink),
    inputs: [Port(.sound, .sound, "the sound as it arrives at normalize")],
    outputs: [Port(.measurement, .measurement, "its loudness in steps, as JSON")],
    parameters: [
      ParameterDescriptor(
        "gain", .number(.decibels, -200...200), .optional, "a gain to try"),
      ParameterDescriptor(
        "ceiling", .number(.decibelsTruePeak, -20...0), .optional, "the ceiling behind it"),
    ])

  private let decision: NormalizeDecision?

  init(_ parameters: Parameters) {
    decision = parameters.gain.map { NormalizeDecision(gain: $0, ceiling: parameters.ceiling) }
  }

  func makeSink(for stream: SoundOutline, in context: SinkContext) -> any SoundSink {
    MeterSink(
      {
        LoudnessSurveyMeter(
          behind: decision?.makeProcessor(for: stream.format), format: stream.format)
      }, in: context)
  }

  func cost(of stream: SoundOutline) -> SinkCost {
    // A tenth of a second is a number of up to twenty digits.
    SinkCost(byteCount: Int((stream.duration?.value ?? 0) * 210) + 1024, coreSeconds: 0.001)
  }
}
