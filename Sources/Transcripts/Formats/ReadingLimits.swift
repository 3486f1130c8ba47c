/// How much is read of what a stranger wrote.
public struct ReadingLimits: Hashable, Sendable {
  /// How many bytes a file may have.
  public var byteCount: Int
  /// How many pieces white space and commas may part it into: memory grows with them.
  public var pieceCount: Int

  /// Limits on reading; as they are, they let the transcripts of some hundred hours through.
  public init(byteCount: Int = 64 << 20, pieceCount: Int = 8_000_000) {
    self.byteCount = byteCount
    self.pieceCount = pieceCount
  }
}
