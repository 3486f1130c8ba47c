internal import AudioModel

/// A stretch of a stream in memory: the blocks as they came, shared with whoever else has them.
struct SoundWindow: ChunkSound {
  private struct Piece {
    let start: Int
    let block: SharedBuffer
    var end: Int { start + block.buffer.frameCount.count }
  }

  private var pieces: [Piece] = []

  /// Adds the block that follows those in the window; its first frame has the number `start`.
  mutating func append(_ block: SharedBuffer, at start: Int) {
    pieces.append(Piece(start: start, block: block))
  }

  /// Lets go of every block that ends at or before `frame`. O(blocks).
  mutating func drop(before frame: Int) {
    pieces.removeFirst(pieces.prefix { $0.end <= frame }.count)
  }

  /// The blocks that have frames of `range`.
  func covering(_ range: Range<Int>) -> SoundWindow {
    var window = SoundWindow()
    window.pieces = pieces.filter { $0.end > range.lowerBound && $0.start < range.upperBound }
    return window
  }

  func read(_ range: Range<Int>, into buffer: inout AudioBuffer) {
    buffer.frameCount = .zero
    for piece in pieces where piece.end > range.lowerBound && piece.start < range.upperBound {
      let start = max(range.lowerBound, piece.start)
      let end = min(range.upperBound, piece.end)
      buffer.append(
        contentsOf: piece.block.buffer, start: Frames(start - piece.start),
        count: Frames(end - start))
    }
    precondition(buffer.frameCount.count == range.count, "the window does not hold \(range)")
  }
}
