import AudioModel
import DSP
import PipelineEngine
import PipelineModel
import Threading

/// `normalize`: to a loudness with a true-peak ceiling, or to a peak.
struct NormalizeStage: AnalysedSoundStage {
  struct Parameters: Codable, Sendable {
    let loudness: LUFS?
    let peak: Decibels?
    let truePeak: Decibels
  }

  static let descriptor = StageDescriptor(
    kind: "normalize", revision: 2,
    summary: "Bring the whole recording to a loudness or a peak level",
    discussion: """
      With `loudness`, the integrated loudness after EBU R 128 is measured over the whole \
      recording, and one gain brings it to the target. Where that would lift true peaks above \
      `true-peak`, they are limited, and the gain is corrected for what the limiter takes. With \
      `peak`, one gain brings the highest sample to the target. Silence, and sound nowhere above \
      -70 LUFS, is left as it is, with a warning.
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
    ],
    shorthand: "loudness")

  private let target: NormalizeTarget

  init(_ parameters: Parameters) throws(StageError) {
    switch (parameters.loudness, parameters.peak) {
    case (let loudness?, nil):
      target = .loudness(loudness, ceiling: parameters.truePeak)
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
}

/// What to reach.
enum NormalizeTarget: Sendable {
  case loudness(LUFS, ceiling: Decibels)
  case peak(Decibels)
}

/// What the stage will do, once it has heard everything.
struct NormalizeDecision: Codable, Sendable {
  var gain: Decibels
  /// The ceiling that a limiter keeps; nil where no peak can reach it.
  var ceiling: Decibels?

  func makeProcessor(for format: AudioFormat) -> any Processor {
    var processors: [any Processor] = [Gain(gain, format: format)]
    if let ceiling {
      processors.append(Limiter(Limiter.Settings(ceiling: ceiling), format: format))
    }
    return ProcessorChain(processors, format: format)
  }
}

/// Levels before and after.
struct NormalizeFindings: Codable, Sendable {
  let before: NormalizeLevels
  let after: NormalizeLevels
  let gain: Decibels
  let isLimited: Bool
}

/// What the decision rests on; an absent figure is that of silence.
struct NormalizeLevels: Codable, Sendable {
  private(set) var integratedLoudness: LUFS?
  private(set) var truePeak: Decibels?
  private(set) var samplePeak: Decibels?

  init(_ loudness: Loudness) {
    integratedLoudness = loudness.integrated
    truePeak = loudness.peaks.truePeak
    samplePeak = loudness.peaks.samplePeak
  }

  /// The levels behind a limiter that had something to do.
  mutating func limit(to ceiling: Decibels, reaching loudness: LUFS) {
    integratedLoudness = loudness
    truePeak = ceiling
    samplePeak = nil
  }

  /// The levels behind a gain.
  func amplified(by gain: Decibels) -> NormalizeLevels {
    var result = self
    result.integratedLoudness?.value += gain.value
    result.truePeak?.value += gain.value
    result.samplePeak?.value += gain.value
    return result
  }
}

/// Measures the stream, and settles the gain.
private final class NormalizeAnalysis: SoundAnalysis {
  private let target: NormalizeTarget
  private let meter: HearingMeter<LoudnessMeter>
  private let search: SearchStanding

  /// What is noted of it.
  private struct Note: Codable {
    let meter: String
    let search: SearchStanding.Note?
  }

  init(_ target: NormalizeTarget, _ format: AudioFormat, resuming progress: ListenerProgress?) {
    self.target = target
    let note = progress.flatMap { try? Findings.decode(Note.self, from: $0.state) }
    let heard = progress.flatMap { progress in
      note.map { ListenerProgress(needsFrom: progress.needsFrom, state: $0.meter) }
    }
    meter = HearingMeter({ LoudnessMeter(format: format) }, resuming: heard)
    search = SearchStanding(resuming: note?.search)
  }

  var firstFrame: Frames { meter.firstFrame }

  func take(_ block: SharedBuffer) { meter.hear(block.buffer) }

  func progress() -> ListenerProgress? {
    let heard = meter.progress
    let note = Note(meter: heard.state, search: search.text)
    return (try? Findings.json(note)).map {
      ListenerProgress(needsFrom: heard.needsFrom, state: $0)
    }
  }

  func conclude(
    _ sound: KeptSound, store: any ArtifactStore, pool: WorkerPool,
    check: @escaping @Sendable () throws(StageError) -> Void
  ) throws(StageError) -> PassOutcome.Result {
    let before = NormalizeLevels(meter.finding())
    var decision = decide(before)
    var after = before.amplified(by: decision.gain)
    if let ceiling = decision.ceiling, case .loudness(let wanted, _) = target {
      let finder = LoudnessSearch(
        wanted: wanted, ceiling: ceiling, sound: sound, pool: pool, check: check)
      let (gain, reached) = try finder.settle(from: decision.gain, noting: search)
      decision.gain = gain
      after.limit(to: ceiling, reaching: reached)
    }
    let findings = NormalizeFindings(
      before: before, after: after, gain: decision.gain, isLimited: decision.ceiling != nil)
    var result = PassOutcome.Result()
    result.warnings = warnings(before, after, sound.outline)
    do {
      result.memo = try Findings.json(decision)
      result.artifacts[.measurement] = try store.keep(
        try Findings.json(findings), as: .measurement)
    } catch let error as StoreError {
      throw StageError(error)
    } catch {
      throw StageError("cannot write down the levels", reason: "\(error)")
    }
    return result
  }

  /// What the user asked for and does not get.
  private func warnings(
    _ before: NormalizeLevels, _ after: NormalizeLevels, _ stream: SoundOutline
  ) -> [String] {
    guard before.samplePeak != nil else {
      return ["nothing was changed: the recording is silent"]
    }
    guard case .loudness(let wanted, let ceiling) = target else { return [] }
    guard let reached = after.integratedLoudness else {
      guard let duration = stream.duration, duration.value >= 0.4 else {
        return [
          "nothing was changed: less than 400 ms have no loudness; a peak can be reached, "
            + "normalize: { peak: -1 dB }"
        ]
      }
      return ["nothing was changed: nowhere is the recording louder than -70 LUFS"]
    }
    guard abs(reached.value - wanted.value) > 0.1 else { return [] }
    let places = (reached.value * 10).rounded() / 10
    return [
      "the loudness ends at \(places) LUFS: with no true peak above \(ceiling.value) dBTP, this "
        + "recording cannot reach \(wanted.value) LUFS"
    ]
  }

  private func decide(_ before: NormalizeLevels) -> NormalizeDecision {
    switch target {
    case .peak(let peak):
      guard let highest = before.samplePeak else { return NormalizeDecision(gain: Decibels(0)) }
      return NormalizeDecision(gain: Decibels(peak.value - highest.value))
    case .loudness(let wanted, let ceiling):
      guard let loudness = before.integratedLoudness else {
        return NormalizeDecision(gain: Decibels(0))
      }
      let gain = Decibels(wanted.value - loudness.value)
      let truePeak = (before.truePeak?.value ?? -.infinity) + gain.value
      return NormalizeDecision(gain: gain, ceiling: truePeak > ceiling.value ? ceiling : nil)
    }
  }
}
