import Audio
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine

/// The files of one piece, in all formats, while they are written.
// Unchecked: blocks reach it on the thread of the sink that made it, which also closes and finishes
// it; `status`, `flush` and `cancel` ask only what an export answers on any thread.
final class PieceWriter: @unchecked Sendable {
  /// The recorded progress of a piece.
  struct State: Codable, Hashable {
    let number: Int
    let start: Int
    let state: String
  }

  /// Counted from 1.
  let number: Int
  /// Where it begins in the stream.
  let start: Frames
  /// The first frame of the stream that an earlier process has not had; beyond every stream where
  /// all files are whole.
  let firstFrame: Frames
  private(set) var isClosed = false
  private let channels: Range<Int>?
  private let sink: ExportSink
  private let buffers: BufferPool

  /// Begins the files of a piece, or resumes those of an earlier process.
  /// - Parameter channels: those that it has; nil for all.
  init(
    _ number: Int, at start: Frames, channels: Range<Int>? = nil, _ targets: [ExportTarget],
    _ stream: SoundOutline, _ context: SinkContext, resuming noted: State? = nil
  ) throws(SpoolError) {
    self.number = number
    self.start = start
    self.channels = channels
    buffers = context.buffers
    let rate = stream.format.sampleRate
    let format =
      channels.map { AudioFormat(sampleRate: rate, channelCount: $0.count) } ?? stream.format
    let work = ListenerWork(
      claim: context.work.claim, name: "\(context.work.name).\(number)",
      resuming: noted.map { ListenerProgress(needsFrom: .zero, state: $0.state) })
    // Files leave the store together, when all of them are whole.
    var own = SinkContext(
      store: context.store, work: work, pool: context.pool, buffers: context.buffers,
      didSeal: { _, _ in })
    // A piece is not as loud as the whole.
    own.promise = context.promise.map { LevelPromise(truePeak: $0.truePeak) }
    own.canRepeat = context.canRepeat
    sink = try ExportSink(targets, SoundOutline(format: format, frames: nil), own)
    firstFrame = PieceWriter.sum(start, sink.firstFrame)
  }

  /// Takes the part of a block that lies within `range`; the block begins at frame `position`. All
  /// three count from the beginning of the stream.
  func take(
    _ block: SharedBuffer, at position: Frames, _ range: Range<Frames>
  ) throws(SpoolError) {
    let first = max(range.lowerBound, firstFrame)
    guard first < range.upperBound else { return }
    let count = range.upperBound - first
    if channels == nil, count == block.buffer.frameCount { return try sink.take(block) }
    var part = buffers.makeBuffer(
      channelCount: channels?.count ?? block.buffer.channelCount, capacity: block.buffer.capacity)
    if let channels {
      part.frameCount = count
      let offset = (first - position).count
      for (own, channel) in channels.enumerated() {
        unsafe part.baseAddress(ofChannel: own).update(
          from: block.buffer.baseAddress(ofChannel: channel) + offset, count: count.count)
      }
    } else {
      part.copy(from: block.buffer, start: first - position, count: count)
    }
    try sink.take(SharedBuffer(part))
  }

  /// The piece has ended; its files are completed while the next one is begun.
  func close() {
    isClosed = true
    sink.close()
  }

  /// Waits for the files, by format.
  func finish() throws(SpoolError) -> [PortName: Artifact] {
    isClosed = true
    return try sink.finishFiles().artifacts
  }

  /// What was found in the files that are whole.
  var checks: [ExportCheck] { sink.checks }

  /// Whether it needs its part of the stream once more: asked when it has finished.
  var needsStreamAgain: Bool { sink.needsStreamAgain }

  /// How far it is, and the frame of the stream from which it needs sound; nil where that cannot be
  /// told.
  var status: (needsFrom: Frames, status: State)? {
    sink.progress().map {
      (
        PieceWriter.sum(start, $0.needsFrom),
        State(number: number, start: start.count, state: $0.state)
      )
    }
  }

  /// Makes durable what `status` counted.
  func flush() throws(SpoolError) { try sink.flush() }

  /// Makes threads that wait for the files return soon.
  func cancel() { sink.cancel() }

  /// A frame of the stream by a frame of the piece; beyond all streams stays there.
  private static func sum(_ start: Frames, _ frame: Frames) -> Frames {
    frame == Frames(.max) ? frame : start + frame
  }
}
