import AudioModel
import DSP
import PipelineEngine
import PipelineModel

/// Hears the sound with one meter, and keeps what it found as the stage's measurement.
final class MeterSink<Meter: Analyser>: SoundSink where Meter.Finding: Encodable {
  private let meter: HearingMeter<Meter>
  private let store: any ArtifactStore

  /// Hears with a meter, from where an earlier process stopped.
  init(_ make: () -> Meter, in context: SinkContext) {
    meter = HearingMeter(make, resuming: context.work.resuming)
    store = context.store
  }

  var firstFrame: Frames { meter.firstFrame }

  func take(_ block: SharedBuffer) { meter.hear(block.buffer) }

  func progress() -> ListenerProgress? { meter.progress }

  func finish() throws(StageError) -> PassOutcome.Result {
    var result = PassOutcome.Result()
    do {
      result.artifacts[.measurement] = try store.keep(
        try Findings.json(meter.finding()), as: .measurement)
    } catch let error as StoreError {
      throw StageError(error)
    } catch {
      throw StageError("cannot write down what was measured", reason: "\(error)")
    }
    return result
  }
}
