package import Audio
import FoundationEssentials
package import PipelineEngine
package import PipelineModel
package import Platform
import Synchronization

/// Measures a stream with one meter, and keeps its finding.
package final class MeterSink<Meter: Analyser>: SoundSink {
  private let meter: ResumableMeter<Meter>
  private let keep: (Meter.Finding) throws(SpoolError) -> [PortName: Artifact]

  /// Measures with a meter, resuming where an earlier process stopped.
  /// - Parameter keep: writes the finding; as the stage's measurement without it.
  package init(
    _ make: () -> Meter, in context: SinkContext,
    keep: ((Meter.Finding) throws(SpoolError) -> [PortName: Artifact])? = nil
  ) {
    meter = ResumableMeter(make, resuming: context.work.resuming)
    if let keep {
      self.keep = keep
    } else {
      let store = context.store
      self.keep = { (finding: Meter.Finding) throws(SpoolError) in
        [.measurement: try store.keep(try Findings.json(finding), as: .measurement)]
      }
    }
  }

  package var firstFrame: Frames { meter.firstFrame }

  package func take(_ block: SharedBuffer) { meter.hear(block.buffer) }

  package func progress() -> ListenerProgress? { meter.progress }

  package func finish() throws(SpoolError) -> PassOutcome.Result {
    var result = PassOutcome.Result()
    result.artifacts = try keep(meter.finding())
    return result
  }
}

/// A meter that measures a stream, and resumes from the state of an earlier process.
package final class ResumableMeter<Meter: Analyser>: Sendable {
  private struct State: @unchecked Sendable {
    // The meter is touched only while the lock is held.
    let meter: Meter
    var heard: Frames
  }

  /// The first frame that it has not heard.
  package let firstFrame: Frames
  private let state: Mutex<State>

  /// Restores the last recorded state. A state that does not fit is ignored: the meter then
  /// measures everything.
  package init(_ make: () -> Meter, resuming progress: ListenerProgress?) {
    if let progress, let bytes = Data(base64Encoded: progress.state) {
      let meter = make()
      if (try? meter.restore(ProcessorSnapshot(bytes: Array(bytes)))) != nil {
        firstFrame = progress.needsFrom
        state = Mutex(State(meter: meter, heard: progress.needsFrom))
        return
      }
    }
    firstFrame = .zero
    state = Mutex(State(meter: make(), heard: .zero))
  }

  /// Hears the next block.
  package func hear(_ block: borrowing AudioBuffer) {
    state.withLock {
      $0.meter.analyse(block)
      $0.heard += block.frameCount
    }
  }

  /// How far it is.
  package var progress: ListenerProgress {
    let (snapshot, heard) = state.withLock { ($0.meter.snapshot, $0.heard) }
    return ListenerProgress(
      needsFrom: heard, state: Data(snapshot.bytes).base64EncodedString())
  }

  /// What it found; asked once, at the end.
  package func finding() -> Meter.Finding { state.withLock { $0.meter.finding() } }
}

/// The analysis of a stage that decides by what one meter found.
package final class MeteredAnalysis<Meter: Analyser>: SoundAnalysis {
  /// What a stage will do, and its report.
  package struct Decision {
    /// What the processor is made from, as JSON.
    fileprivate let memo: String
    /// The findings for people, as JSON.
    fileprivate let findings: String
    /// What the user should know.
    fileprivate let warnings: [String]

    package init(
      memo: some Encodable, findings: some Encodable, warnings: [String] = []
    ) throws(SpoolError) {
      self.memo = try Findings.json(memo)
      self.findings = try Findings.json(findings)
      self.warnings = warnings
    }
  }

  private let meter: ResumableMeter<Meter>
  private let decide: (Meter.Finding) throws(SpoolError) -> Decision

  /// Hears with a meter, from where it stood, and decides at the end.
  package init(
    _ make: () -> Meter, resuming progress: ListenerProgress?,
    decide: @escaping (Meter.Finding) throws(SpoolError) -> Decision
  ) {
    meter = ResumableMeter(make, resuming: progress)
    self.decide = decide
  }

  package var firstFrame: Frames { meter.firstFrame }

  package func take(_ block: SharedBuffer) { meter.hear(block.buffer) }

  package func progress() -> ListenerProgress? { meter.progress }

  package func conclude(
    _ sound: PCMArtifact, store: any ArtifactStore, pool: WorkerPool,
    check: @escaping @Sendable () throws(SpoolError) -> Void
  ) throws(SpoolError) -> PassOutcome.Result {
    var result = PassOutcome.Result()
    let decision = try decide(meter.finding())
    result.memo = decision.memo
    result.warnings = decision.warnings
    result.artifacts[.measurement] = try store.keep(decision.findings, as: .measurement)
    return result
  }
}

/// How findings are written down.
package enum Findings {
  /// JSON with sorted keys, so that equal findings have equal bytes.
  package static func json(_ findings: some Encodable) throws(SpoolError) -> String {
    do { return try findings.jsonText() } catch {
      throw SpoolError("cannot write down the findings", reason: "\(error)")
    }
  }

  /// Reads what `json` wrote.
  package static func decode<T: Decodable>(_ type: T.Type, from text: String) throws(SpoolError)
    -> T
  {
    do { return try T(jsonText: text) } catch {
      throw SpoolError("the store holds findings that cannot be read", reason: "\(error)")
    }
  }
}
