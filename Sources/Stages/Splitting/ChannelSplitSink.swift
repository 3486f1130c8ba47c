import AudioModel
import PipelineEngine
import PipelineModel

/// Writes every channel of a stream into files of its own, side by side.
final class ChannelSplitSink: SoundSink {
  let firstFrame: Frames
  private let pieces: [PieceWriter]
  private let format: AudioFormat
  private let store: any ArtifactStore
  private var position: Frames

  init(
    _ targets: [ExportTarget], _ stream: SoundOutline, _ context: SinkContext
  ) throws(StageError) {
    format = stream.format
    store = context.store
    let noted = context.work.resuming.flatMap {
      try? Findings.decode([PieceWriter.Standing].self, from: $0.state)
    }
    var pieces: [PieceWriter] = []
    for channel in 0..<stream.format.channelCount {
      pieces.append(
        try PieceWriter(
          channel + 1, at: .zero, channel: channel, targets, stream, context,
          resuming: noted?.first { $0.number == channel + 1 }))
    }
    self.pieces = pieces
    firstFrame = pieces.map(\.firstFrame).min() ?? .zero
    position = firstFrame
  }

  func take(_ block: SharedBuffer) throws(StageError) {
    let range = position..<position + block.buffer.frameCount
    for piece in pieces { try piece.take(block, at: position, range) }
    position = range.upperBound
  }

  func progress() -> ListenerProgress? {
    var standings: [PieceWriter.Standing] = []
    var needs = Frames(.max)
    for piece in pieces {
      guard let (needsFrom, standing) = piece.standing else { return nil }
      needs = min(needs, needsFrom)
      standings.append(standing)
    }
    return (try? Findings.json(standings)).map { ListenerProgress(needsFrom: needs, state: $0) }
  }

  func flush() throws(StageError) {
    for piece in pieces { try piece.flush() }
  }

  func cancel() { pieces.forEach { $0.cancel() } }

  func finish() throws(StageError) -> PassOutcome.Result {
    pieces.forEach { $0.close() }
    var files = SplitFiles()
    for piece in pieces {
      files.pieces.append(
        SplitFiles.Piece(
          range: .zero..<position, channel: piece.number, files: try piece.finish()))
    }
    return try files.result(of: format, in: store)
  }
}
