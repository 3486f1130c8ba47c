import AudioModel
import PipelineEngine
import PipelineModel
import Threading

/// The analysis of a stage that decides by what one meter found.
final class MeteredAnalysis<Meter: Analyser>: SoundAnalysis {
  /// What a stage will do, and what is told about it.
  struct Decision {
    /// What the processor is made from, as JSON.
    var memo: String
    /// The findings for people, as JSON.
    var findings: String
    /// What the user should know.
    var warnings: [String] = []
  }

  private let meter: HearingMeter<Meter>
  private let decide: (Meter.Finding) throws -> Decision

  /// Hears with a meter, from where it stood, and decides at the end.
  init(
    _ make: () -> Meter, resuming progress: ListenerProgress?,
    decide: @escaping (Meter.Finding) throws -> Decision
  ) {
    meter = HearingMeter(make, resuming: progress)
    self.decide = decide
  }

  var firstFrame: Frames { meter.firstFrame }

  func take(_ block: SharedBuffer) { meter.hear(block.buffer) }

  func progress() -> ListenerProgress? { meter.progress }

  func conclude(
    _ sound: KeptSound, store: any ArtifactStore, pool: WorkerPool,
    check: @escaping @Sendable () throws(StageError) -> Void
  ) throws(StageError) -> PassOutcome.Result {
    var result = PassOutcome.Result()
    do {
      let decision = try decide(meter.finding())
      result.memo = decision.memo
      result.warnings = decision.warnings
      result.artifacts[.measurement] = try store.keep(decision.findings, as: .measurement)
    } catch let error as StoreError {
      throw StageError(error)
    } catch let error as StageError {
      throw error
    } catch {
      throw StageError("cannot write down the findings", reason: "\(error)")
    }
    return result
  }
}
