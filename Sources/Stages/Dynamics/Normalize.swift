import Audio
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine

/// `normalize`: to a loudness with a true-peak ceiling, or to a peak.
struct NormalizeStage: DeclaredStage, AnalysedSoundStage, CeilingStage {
  struct Parameters: Codable, Sendable {
    let loudness: LUFS?
    let peak: Decibels?
    let truePeak: Decibels
    let album: Bool
    let albumGain: Decibels?
    let dualMono: Bool?
  }

  static let descriptor = StageDescriptor(
    kind: "normalize", revision: 7,
    summary: "Bring the whole recording to a loudness or a peak level",
    discussion: """
      With `loudness`, the integrated loudness after EBU R 128 is measured over the whole \
      recording, and one gain brings it to the target; parts below -70 LUFS do not count, and do once the gain \
      lifts them. Where that would lift true peaks above \
      `true-peak`, they are limited, and the gain is corrected for what the limiter takes. With \
      `peak`, one gain brings the highest sample to the target. Silence, and sound nowhere above \
      -70 LUFS, is left as it is, with a warning. With `album`, a batch listens to all recordings \
      first, and one gain for all brings the whole of them to the loudness, gated as if they were \
      one recording, so that what was quieter stays quieter; it too is corrected for what the \
      limiter takes. Recordings that cannot be read do not count. A recording that is run by \
      itself is an album of one, unless it is given the gain of its album with `album-gain`. The \
      loudness of mono is that of one channel, and both speakers play it 3 LU louder: with \
      `dual-mono` that is brought to the target, so that -16 LUFS is -19 LUFS of mono.
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
      .dualMono,
    ],
    shorthand: "loudness")

  private let isAlbum: Bool
  private let isDualMono: Bool
  private let target: NormalizeStage.Target

  init(_ parameters: Parameters) throws(SpoolError) {
    isAlbum = parameters.album
    isDualMono = parameters.dualMono == true
    if isDualMono, isAlbum || parameters.loudness == nil {
      throw SpoolError(
        "normalize takes dual-mono with the loudness of one recording",
        reason: isAlbum ? "album does not go with dual-mono" : "a peak is that of a sample",
        advice: isAlbum
          ? "decode: { channels: 2 }, which makes mono stereo" : "leave dual-mono out")
    }
    if parameters.peak != nil, isAlbum || parameters.albumGain != nil {
      throw SpoolError(
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
      throw SpoolError(
        "normalize needs either loudness or peak", advice: "loudness: -16 LUFS, or peak: -1 dB")
    }
  }

  var promise: LevelPromise? {
    switch target {
    case .loudness(let loudness, let ceiling):
      LevelPromise(
        truePeak: ceiling, loudness: isAlbum ? nil : loudness, isDualMono: isDualMono)
    case .gain(_, let ceiling): LevelPromise(truePeak: ceiling)
    // The peak of samples, between which the wave may be higher.
    case .peak: nil
    }
  }

  func makeAnalysis(
    of format: AudioFormat, resuming: ListenerProgress?
  ) -> any SoundAnalysis {
    NormalizeStage.Analysis(target, format, isDualMono: isDualMono, resuming: resuming)
  }

  func makeProcessor(
    for format: AudioFormat, memo: String
  ) throws(SpoolError) -> any Processor {
    let decision = try Findings.decode(NormalizeStage.Decision.self, from: memo)
    return decision.makeProcessor(for: format)
  }

  var album: AlbumAnalysis? {
    guard isAlbum else { return nil }
    return AlbumAnalysis(survey: StageRegistration(AlbumSurveyStage.self)) {
      [target] (rounds) throws(SpoolError) in
      guard case .loudness(let wanted, let ceiling) = target else { return .settle([:]) }
      return try AlbumGain(wanted: wanted, ceiling: ceiling).move(after: rounds)
    }
  }
}

extension StageRegistration { static let normalize = StageRegistration(NormalizeStage.self) }

/// Decides on the gain of an album from what surveys found: first how loud all of it is, and, where
/// the ceiling is passed, how loud it becomes behind the limiter.
struct AlbumGain {
  /// The loudness that the album is to have.
  let wanted: LUFS
  /// The ceiling of the limiter.
  let ceiling: Decibels

  /// What comes next. A survey without parameters hears the recordings as they are.
  func move(after rounds: [AlbumAnalysis.Round]) throws(SpoolError) -> AlbumAnalysis.Move {
    guard let first = rounds.first else { return .survey([:]) }
    let recordings = try surveys(first)
    let histories = recordings.map(\.history)
    guard let loudness = LoudnessHistory.integrated(histories) else { return .settle([:]) }
    let unlimited = Self.rounded(
      LoudnessHistory.gain(of: histories, reaching: wanted)?.value
        ?? (wanted.value - loudness.value))
    let peak = recordings.compactMap { $0.truePeak?.value }.max() ?? -.infinity
    guard peak + unlimited.value > ceiling.value else { return settle(unlimited) }
    var steps = LoudnessSteps(wanted: wanted, unlimited: unlimited)
    for round in rounds.dropFirst() where !steps.isSettled {
      let reached = LoudnessHistory.integrated(try surveys(round).map(\.history))
      guard let reached else { return settle(steps.gain) }
      steps.take(reached)
    }
    if steps.isSettled { return settle(steps.gain) }
    return .survey(["gain": Self.rounded(steps.gain.value).value, "ceiling": ceiling.value])
  }

  private func surveys(
    _ round: AlbumAnalysis.Round
  ) throws(SpoolError) -> [LoudnessSurveyMeter.Finding] {
    try round.findings.map { (text) throws(SpoolError) in
      try Findings.decode(LoudnessSurveyMeter.Finding.self, from: text)
    }
  }

  private func settle(_ gain: Decibels) -> AlbumAnalysis.Move {
    .settle(["album-gain": Self.rounded(gain.value).value])
  }

  /// A gain that can be read and typed: in thousandths of a decibel.
  private static func rounded(_ gain: Double) -> Decibels {
    Decibels((gain * 1000).rounded() / 1000)
  }
}

/// What a batch runs in the place of `normalize` to find the gain of an album: it hears a recording,
/// as it is or behind a gain and a limiter.
struct AlbumSurveyStage: DeclaredStage, SoundSinkStage {
  struct Parameters: Codable, Sendable {
    let gain: Decibels?
    let ceiling: Decibels?
  }

  static let descriptor = StageDescriptor(
    kind: "normalize-survey", revision: 3,
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

  private let decision: NormalizeStage.Decision?

  init(_ parameters: Parameters) {
    decision = parameters.gain.map {
      NormalizeStage.Decision(gain: $0, ceiling: parameters.ceiling)
    }
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
