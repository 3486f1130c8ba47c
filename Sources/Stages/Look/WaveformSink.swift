import AudioModel
import DSP
import FoundationEssentials
import Pictures
import PipelineEngine
import PipelineModel
import Synchronization

/// Gathers peaks into a file while the sound goes by, and draws them when it is over.
final class WaveformSink: SoundSink {
  private struct State: @unchecked Sendable {
    // The gatherer and the file are touched only while the lock is held, and by the one thread that
    // finishes.
    let gatherer: PeakGatherer
    let peaks: PeakFile
  }

  /// What is noted.
  private struct Standing: Codable {
    let points: DraftPrefix
    let gatherer: String
  }

  let firstFrame: Frames
  private let state: Mutex<State>
  private let flusher: @Sendable () throws(StoreError) -> Void
  private let form: WaveformForm
  private let format: AudioFormat
  private let context: SinkContext

  init(_ form: WaveformForm, _ format: AudioFormat, _ context: SinkContext) throws(StageError) {
    self.form = form
    self.format = format
    self.context = context
    let stretch = Frames(form.framesPerPoint)
    let gatherer = PeakGatherer(format: format, stretch: stretch)
    let standing = context.work.resuming.flatMap {
      try? Findings.decode(Standing.self, from: $0.state)
    }
    let bytes = standing.flatMap { Data(base64Encoded: $0.gatherer) }.map(Array.init)
    let isUsable =
      bytes.map { (try? gatherer.restore(ProcessorSnapshot(bytes: $0))) != nil } ?? false
    let peaks = try PeakFile(
      context.work, channelCount: format.channelCount,
      resuming: isUsable ? standing?.points : nil)
    // Without points that are vouched for, the gatherer's own state is worth nothing either.
    let isResumed = peaks.isResumed && isUsable
    let state = State(
      gatherer: isResumed ? gatherer : PeakGatherer(format: format, stretch: stretch),
      peaks: peaks)
    firstFrame = state.gatherer.frames
    flusher = peaks.flusher
    self.state = Mutex(state)
  }

  func take(_ block: SharedBuffer) throws(StageError) {
    try state.withLock { (state) throws(StageError) in
      var peaks: [Peak] = []
      state.gatherer.gather(block.buffer, into: &peaks)
      try state.peaks.append(peaks)
    }
  }

  func progress() -> ListenerProgress? {
    let (snapshot, frames, points) = state.withLock {
      ($0.gatherer.snapshot, $0.gatherer.frames, $0.peaks.prefix())
    }
    let standing = Standing(
      points: points, gatherer: Data(snapshot.bytes).base64EncodedString())
    return (try? Findings.json(standing)).map { ListenerProgress(needsFrom: frames, state: $0) }
  }

  func flush() throws(StageError) {
    do { try flusher() } catch { throw StageError(error) }
  }

  func finish() throws(StageError) -> PassOutcome.Result {
    try state.withLock { (state) throws(StageError) in
      var last: [Peak] = []
      state.gatherer.finish(into: &last)
      try state.peaks.append(last)
      return try files(state.peaks, frames: state.gatherer.frames)
    }
  }

  private func files(
    _ peaks: PeakFile, frames: Frames
  ) throws(StageError) -> PassOutcome.Result {
    var result = PassOutcome.Result()
    let files = WaveformFiles(format: format, frames: frames, peaks: peaks, store: context.store)
    for level in form.levels {
      if form.formats.contains(.dat) {
        result.artifacts[WaveformFormat.dat.port(level)] = try files.binary(level, form.bits)
      }
      if form.formats.contains(.json) {
        result.artifacts[WaveformFormat.json.port(level)] = try files.text(level, form.bits)
      }
    }
    guard form.formats.contains(.svg) || form.formats.contains(.png) else { return result }
    let frame = ChartFrame(
      width: form.size.width, height: form.size.height, laneCount: format.channelCount,
      duration: frames.duration(at: format.sampleRate))
    let columns = try WaveformColumns(
      peaks, framesPerPoint: form.framesPerPoint, frames: frames,
      channelCount: format.channelCount, atMost: Int(frame.width))
    let drawing = WaveformPicture(columns, in: frame).drawing(form.size)
    if form.formats.contains(.svg) {
      result.artifacts[WaveformFormat.svg.port] = try context.store.keepSVG(drawing)
    }
    if form.formats.contains(.png) {
      result.artifacts[WaveformFormat.png.port] = try context.store.keepPNG(Raster(drawing))
    }
    return result
  }
}
