import AudioModel
import DSP
import PipelineEngine
import PipelineModel

/// Hears a recording of an album, and keeps what was found.
final class AlbumSurveySink: SoundSink {
  private let meter: HearingMeter<LoudnessSurveyMeter>
  private let store: any ArtifactStore

  init(_ meter: HearingMeter<LoudnessSurveyMeter>, store: any ArtifactStore) {
    self.meter = meter
    self.store = store
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
      throw StageError("cannot write down how loud the recording is", reason: "\(error)")
    }
    return result
  }
}
