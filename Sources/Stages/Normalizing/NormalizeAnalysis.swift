import AudioModel
import DSP
import PipelineEngine
import PipelineModel
import Threading

/// Measures the stream, and settles the gain.
final class NormalizeAnalysis: SoundAnalysis {
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
    switch (target, decision.ceiling) {
    case (.loudness(let wanted, _), let ceiling?):
      let finder = LoudnessSearch(
        wanted: wanted, ceiling: ceiling, sound: sound, pool: pool, check: check)
      let (gain, reached) = try finder.settle(from: decision.gain, noting: search)
      decision.gain = gain
      after.limit(to: ceiling, reaching: reached)
    case (.gain, let ceiling?):
      let trial = LoudnessTrial(decision: decision, sound: sound, check: check)
      after.limit(to: ceiling, reaching: try trial.run(on: pool).integrated())
    default: break
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
      "the loudness ends at \(places) LUFS, not at \(wanted.value): with no true peak above "
        + "\(ceiling.value) dBTP, more gain makes this recording hardly any louder"
    ]
  }

  private func decide(_ before: NormalizeLevels) -> NormalizeDecision {
    switch target {
    case .gain(let gain, let ceiling):
      guard let truePeak = before.truePeak else { return NormalizeDecision(gain: Decibels(0)) }
      return NormalizeDecision(
        gain: gain, ceiling: truePeak.value + gain.value > ceiling.value ? ceiling : nil)
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
