import AudioModel
import DSP
import PipelineEngine
import PipelineModel
import Threading

/// `normalize`: to a loudness with a true-peak ceiling, or to a peak.
struct NormalizeStage: DeclaredStage, AnalysedSoundStage, AlbumStage {
  struct Parameters: Codable, Sendable {
    let loudness: LUFS?
    let peak: Decibels?
    let truePeak: Decibels
    let album: Bool
    let albumGain: Decibels?
  }

  static let descriptor = StageDescriptor(
    kind: "normalize", revision: 4,
    summary: "Bring the whole recording to a loudness or a peak level",
    discussion: """
      With `loudness`, the integrated loudness after EBU R 128 is measured over the whole \
      recording, and one gain brings it to the target. Where that would lift true peaks above \
      `true-peak`, they are limited, and the gain is corrected for what the limiter takes. With \
      `peak`, one gain brings the highest sample to the target. Silence, and sound nowhere above \
      -70 LUFS, is left as it is, with a warning. With `album`, a batch listens to all recordings \
      first, and one gain for all brings the whole of them to the loudness, gated as if they were \
      one recording, so that what was quieter stays quieter; it too is corrected for what the \
      limiter takes. Recordings that cannot be read do not count. A recording that is run by \
      itself is an album of one, unless it is given the gain of its album with `album-gain`.
      """,
    flow: .streaming(.sound, .analysedFilter),
    inputs: [Port(.sound, .sound, "the sound to normalize")],
    outputs: [
      Port(.sound, .sound, "the normalized sound"),
      Port(.measurement, .measurement, "levels before and after, as JSON"),
    ],
    parameters: [
      ParameterDescriptor(
        "loudness", .number(.lufs, -70...(-5)), .optional,
        "the integrated loudness to reach: -16 LUFS for podcasts, -23 LUFS for broadcast"),
      ParameterDescriptor(
        "peak", .number(.decibels, -60...0), .optional,
        "the sample peak to reach, in place of a loudness"),
      ParameterDescriptor(
        "true-peak", .number(.decibelsTruePeak, -20...0), .defaulted("-1 dBTP"),
        "the ceiling that no true peak may pass"),
      ParameterDescriptor(
        "album", .flag, .defaulted("false"),
        "whether the recordings of a batch get one gain, to keep how loud they are to each other",
        isInKey: false),
      ParameterDescriptor(
        "album-gain", .number(.decibels, -200...200), .optional,
        "the gain of the album that a recording belongs to; a batch finds it, with album: true"),
    ],
    shorthand: "loudness")

  let isAlbum: Bool
  private let target: NormalizeTarget

  init(_ parameters: Parameters) throws(StageError) {
    isAlbum = parameters.album
    if parameters.peak != nil, isAlbum || parameters.albumGain != nil {
      throw StageError(
        "normalize shares a gain by loudness", reason: "album does not go with peak",
        advice: "loudness: -16 LUFS, in place of peak")
    }
    switch (parameters.loudness, parameters.peak) {
    case (let loudness?, nil):
      target =
        parameters.albumGain.map { .gain($0, ceiling: parameters.truePeak) }
        ?? .loudness(loudness, ceiling: parameters.truePeak)
    case (nil, let peak?): target = .peak(peak)
    default:
      throw StageError(
        "normalize needs either loudness or peak", advice: "loudness: -16 LUFS, or peak: -1 dB")
    }
  }

  func makeAnalysis(
    of format: AudioFormat, resuming: ListenerProgress?
  ) -> any SoundAnalysis {
    NormalizeAnalysis(target, format, resuming: resuming)
  }

  func makeProcessor(
    for format: AudioFormat, memo: String
  ) throws(StageError) -> any Processor {
    let decision = try Findings.decode(NormalizeDecision.self, from: memo)
    return decision.makeProcessor(for: format)
  }

  static var albumSurvey: StageRegistration { StageRegistration(AlbumSurveyStage.self) }

  func albumMove(after rounds: [AlbumRound]) throws(StageError) -> AlbumMove {
    guard case .loudness(let wanted, let ceiling) = target else { return .settle([:]) }
    return try AlbumGain(wanted: wanted, ceiling: ceiling).move(after: rounds)
  }
}
