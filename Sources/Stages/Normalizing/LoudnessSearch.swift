import AudioModel
import DSP
import PipelineModel
import Threading

/// Finds the gain with which limited sound reaches a loudness.
///
/// A limiter takes loudness away, and how much is only known from trying.
struct LoudnessSearch {
  /// The loudness to reach.
  let wanted: LUFS
  /// The ceiling of the limiter.
  let ceiling: Decibels
  /// The sound before gain and limiter.
  let sound: KeptSound
  /// Threads for the stretches of a trial, one a core.
  let pool: WorkerPool
  /// Throws when the pass has to stop.
  let check: @Sendable () throws(StageError) -> Void

  /// The gain and what it reaches, beginning at the gain that would do without a limiter, or where
  /// `standing` says that an earlier process came to.
  func settle(
    from unlimited: Decibels, noting standing: SearchStanding
  ) throws(StageError) -> (gain: Decibels, reached: LUFS) {
    var (steps, begun) =
      standing.latest ?? (LoudnessSteps(wanted: wanted, unlimited: unlimited), LoudnessHistory())
    while !steps.isSettled {
      let trial = LoudnessTrial(
        decision: NormalizeDecision(gain: steps.gain, ceiling: ceiling), sound: sound, check: check)
      let history = try trial.run(on: pool, from: begun) { standing.note(steps, $0) }
      guard let reached = history.integrated() else { break }
      steps.take(reached)
      begun = LoudnessHistory()
      standing.note(steps, begun)
    }
    return (steps.gain, steps.expected)
  }
}
