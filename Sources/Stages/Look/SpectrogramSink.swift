import AudioModel
import DSP
import FoundationEssentials
import Media
import PipelineEngine
import PipelineModel
import Synchronization

/// Gathers the columns of a spectrogram while the sound goes by, and draws them when it is over.
final class SpectrogramSink: SoundSink {
  static let port = PortName("png")

  private struct State: @unchecked Sendable {
    // The gatherer and the files are touched only while the lock is held, and by the one thread that
    // finishes.
    let gatherer: SpectrumGatherer
    let columns: ColumnFiles
  }

  /// What is noted.
  private struct Standing: Codable {
    let generation: Int
    let columns: DraftPrefix
    let gatherer: String
  }

  let firstFrame: Frames
  private let state: Mutex<State>
  private let form: SpectrogramForm
  private let format: AudioFormat
  private let frame: ChartFrame
  private let store: any ArtifactStore

  init(
    _ form: SpectrogramForm, _ format: AudioFormat, _ context: SinkContext
  ) throws(StageError) {
    self.form = form
    self.format = format
    store = context.store
    // How long the sound is will be known at its end; how wide the lanes are does not depend on it.
    frame = SpectrogramPicture.frame(form, format, duration: Seconds(0))
    let layout = SpectrumGatherer.Layout(
      rowCount: max(1, Int(frame.lanes.first?.height ?? 1)), columnLimit: 2 * Int(frame.width),
      scale: form.scale, top: SpectrogramPicture.top(form, format))
    let transform: LibraryTransform
    do throws(MediaError) { transform = try LibraryTransform(length: form.window) } catch {
      throw StageError(error)
    }
    let gatherer = SpectrumGatherer(format: format, layout: layout, transform: transform)
    let columns = ColumnFiles(context.work, columnLength: gatherer.columnLength)
    if let standing = context.work.resuming.flatMap({
      try? Findings.decode(Standing.self, from: $0.state)
    }), let bytes = Data(base64Encoded: standing.gatherer) {
      let earlier = try columns.resume(
        generation: standing.generation, standing.columns)
      if let earlier {
        let snapshot = ProcessorSnapshot(bytes: Array(bytes))
        if (try? gatherer.restore(snapshot, columns: earlier)) == nil { columns.forget() }
      }
    }
    firstFrame = gatherer.frames
    state = Mutex(State(gatherer: gatherer, columns: columns))
  }

  func take(_ block: SharedBuffer) throws(StageError) {
    try state.withLock { (state) throws(StageError) in
      state.gatherer.gather(block.buffer)
      try state.columns.write(state.gatherer.columns, generation: state.gatherer.generation)
    }
  }

  func progress() -> ListenerProgress? {
    state.withLock { state in
      let gatherer = state.gatherer
      let standing = Standing(
        generation: gatherer.generation, columns: state.columns.prefix(gatherer.generation),
        gatherer: Data(gatherer.snapshot.bytes).base64EncodedString())
      return (try? Findings.json(standing)).map {
        ListenerProgress(needsFrom: gatherer.frames, state: $0)
      }
    }
  }

  func flush() throws(StageError) {
    let flushers = state.withLock { $0.columns.flushers }
    for flusher in flushers {
      do { try flusher() } catch { throw StageError(error) }
    }
  }

  func finish() throws(StageError) -> PassOutcome.Result {
    try state.withLock { (state) throws(StageError) in
      state.gatherer.finish()
      let picture = SpectrogramPicture(
        form, format, columns: state.gatherer.columns,
        columnLength: state.gatherer.columnLength,
        framesPerColumn: state.gatherer.framesPerColumn, frames: state.gatherer.frames)
      var result = PassOutcome.Result()
      result.artifacts[Self.port] = try store.keepPNG(picture.raster())
      return result
    }
  }
}
