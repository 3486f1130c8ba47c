import PipelineModel
import Platform
import Synchronization

/// The corrections of words, as they were when the run first needed them: later ones count in the next
/// run.
extension Execution {
  final class Corrections: Sendable {
    fileprivate typealias Found = (words: Digest, corrected: CorrectedWords, warnings: [String])
    fileprivate let found = Mutex<[StepID: Found]>([:])

    /// What is to be known of corrections of the words that a step writes.
    func warnings(of step: StepID) -> [String] { found.withLock { $0[step]?.warnings ?? [] } }
  }

  /// The words at a step's input with their corrections.
  func corrected(
    _ words: StepOutput, for step: BoundStep, _ survey: Survey
  ) throws(SpoolError) -> CorrectedWords {
    guard let overlay = runner.corrections else { return .unchanged }
    if let found = corrections.found.withLock({ $0[step.id] }), found.words == words.identity {
      return found.corrected
    }
    var warnings: [String] = []
    let corrected = try overlay(words, { record(above: step, survey) }) { warnings.append($0) }
    if corrected != .unknown {
      corrections.found.withLock { $0[step.id] = (words.identity, corrected, warnings) }
    }
    return corrected
  }

  /// The record of a run that has done the steps above one, as far as they are done.
  private func record(above step: BoundStep, _ survey: Survey) -> RunRecord {
    let above = plan.ancestors(of: step.id)
    var record = RunRecord(
      id: run ?? RunID(""), pipeline: plan.name, pipelinePath: "", inputs: plan.inputs,
      overrides: [:], startedAt: 0)
    record.inputNames = plan.inputNames
    record.soundInputs = plan.inputNames.filter { plan.inputKinds[$0] == .sound }
    record.recordings = recordings.mapValues(\.identity)
    record.steps = plan.steps.filter { above.contains($0.id) }.map { step in
      var done = StepRecord(id: step.id, kind: step.descriptor.kind, outcome: .pending)
      if let checkpoint = survey.checkpoint(of: step.id) {
        done.fill(from: checkpoint, .reused, store: store)
      }
      return done
    }
    return record
  }
}
