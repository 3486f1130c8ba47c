import AudioModel
import DSP
import Media
import PipelineModel

/// What steps of a run have found about the loudness of the very sound that a step takes.
enum KnownLoudness {
  /// So much is known, perhaps nothing.
  case known(BroadcastLoudness)
  /// A step that will know has not finished.
  case awaited

  /// Asks the `measure` that takes the same sound, or else the `normalize` that gave it.
  init(_ context: PublishingContext) throws(StageError) {
    let lineage = context.lineage
    if let meter = lineage.peers(of: context.step).first(where: { $0.stage is MeasureStage }) {
      guard let text = try Self.measurement(of: meter, context) else {
        self = .awaited
        return
      }
      self = .known(BroadcastLoudness(try Findings.decode(Levels.self, from: text)))
    } else if let above = lineage.chain(to: context.step).last, above.stage is NormalizeStage {
      guard let text = try Self.measurement(of: above, context) else {
        self = .awaited
        return
      }
      self = .known(BroadcastLoudness(try Findings.decode(NormalizeFindings.self, from: text)))
    } else {
      self = .known(BroadcastLoudness())
    }
  }

  private static func measurement(
    of step: BoundStep, _ context: PublishingContext
  ) throws(StageError) -> String? {
    guard let artifact = context.lineage.outputs(of: step.id)?[.measurement]?.artifact else {
      return nil
    }
    do throws(StoreError) { return try context.store.text(of: artifact) } catch {
      throw StageError(error)
    }
  }
}

extension BroadcastLoudness {
  /// What `measure` found.
  fileprivate init(_ levels: Levels) {
    self.init()
    integrated = levels.integratedLoudness?.value
    range = levels.loudnessRange?.value
    truePeak = levels.truePeak?.value
    momentary = levels.maximumMomentary?.value
    shortTerm = levels.maximumShortTerm?.value
  }

  /// What `normalize` knows. Of sound that was limited it knows the ceiling, which is no peak.
  fileprivate init(_ findings: NormalizeFindings) {
    self.init()
    integrated = findings.after.integratedLoudness?.value
    truePeak = findings.isLimited ? nil : findings.after.truePeak?.value
  }
}
