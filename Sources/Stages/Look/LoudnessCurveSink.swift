import AudioModel
import DSP
import Pictures
import PipelineEngine
import PipelineModel

/// Feeds a meter, and writes its curve down when the sound is over.
final class LoudnessCurveSink: SoundSink {
  private let formats: [LoudnessCurveFormat]
  private let size: PictureSize
  private let meter: HearingMeter<LoudnessCurveMeter>
  private let store: any ArtifactStore

  init(
    _ formats: [LoudnessCurveFormat], _ size: PictureSize,
    _ meter: HearingMeter<LoudnessCurveMeter>, store: any ArtifactStore
  ) {
    self.formats = formats
    self.size = size
    self.meter = meter
    self.store = store
  }

  var firstFrame: Frames { meter.firstFrame }

  func take(_ block: SharedBuffer) { meter.hear(block.buffer) }

  func progress() -> ListenerProgress? { meter.progress }

  func finish() throws(StageError) -> PassOutcome.Result {
    let curve = meter.finding()
    var result = PassOutcome.Result()
    let needsPicture = formats.contains(.svg) || formats.contains(.png)
    let drawing = needsPicture ? LoudnessCurvePicture(curve, size).drawing : nil
    for format in formats {
      switch format {
      case .csv: result.artifacts[format.port] = try store.keepCSV(curve)
      case .json: result.artifacts[format.port] = try store.keepJSON(curve)
      case .svg: if let drawing { result.artifacts[format.port] = try store.keepSVG(drawing) }
      case .png:
        if let drawing { result.artifacts[format.port] = try store.keepPNG(Raster(drawing)) }
      }
    }
    return result
  }
}
