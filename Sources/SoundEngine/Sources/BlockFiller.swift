package import Audio
import PipelineModel
package import Platform

/// Sound that comes in pieces of any length, handed on in full blocks: a resumed pass has to see
/// the same blocks again.
package struct BlockFiller: ~Copyable {
  /// The piece that came last.
  package var piece: AudioBuffer
  // How much of it was handed on.
  private var given = Frames.zero

  /// Nothing yet; a piece has at most `capacity` frames.
  package init(channelCount: Int, capacity: Frames) {
    piece = AudioBuffer(channelCount: channelCount, capacity: capacity)
  }

  /// Fills a buffer, less only at the end.
  /// - Parameter next: replaces the piece, possibly by an empty one; false where no more comes.
  /// - Returns: whether there is any sound in the buffer.
  package mutating func fill(
    _ buffer: inout AudioBuffer,
    _ next: (inout AudioBuffer) throws(SpoolError) -> Bool
  ) throws(SpoolError) -> Bool {
    buffer.frameCount = .zero
    while buffer.frameCount < buffer.capacity {
      if given < piece.frameCount {
        let count = min(piece.frameCount - given, buffer.capacity - buffer.frameCount)
        buffer.append(contentsOf: piece, start: given, count: count)
        given += count
      } else {
        given = .zero
        piece.frameCount = .zero
        guard try next(&piece) else { break }
      }
    }
    return buffer.frameCount.count > 0
  }
}
