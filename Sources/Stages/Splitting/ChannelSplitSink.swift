import AudioModel
import PipelineEngine
import PipelineModel

/// Writes every channel of a stream, or every few that stand side by side, into files of their own.
final class ChannelSplitSink: SoundSink {
  let firstFrame: Frames
  private let pieces: [PieceWriter]
  private let width: Int
  private let format: AudioFormat
  private let store: any ArtifactStore
  private var position: Frames

  /// - Parameter width: channels of a file; of the stream's there must be a multiple.
  init(
    _ targets: [ExportTarget], width: Int, _ stream: SoundOutline, _ context: SinkContext
  ) throws(StageError) {
    format = stream.format
    self.width = width
    store = context.store
    let noted = context.work.resuming.flatMap {
      try? Findings.decode([PieceWriter.Standing].self, from: $0.state)
    }
    var pieces: [PieceWriter] = []
    for number in 1...stream.format.channelCount / width {
      pieces.append(
        try PieceWriter(
          number, at: .zero, channels: (number - 1) * width..<number * width, targets, stream,
          context, resuming: noted?.first { $0.number == number }))
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
          range: .zero..<position, channel: (piece.number - 1) * width + 1,
          files: try piece.finish()))
    }
    return try files.result(of: format, in: store)
  }
}
