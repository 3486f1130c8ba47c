/// Which chunk of a stream some packets are: equal labels of the same sound have equal packets.
struct ChunkLabel: Hashable, Sendable {
  /// Its number.
  let chunk: Int
  /// The frames that were encoded for it.
  let range: Range<Int>
  /// Whether the stream ends with it.
  let isLast: Bool

  /// A chunk that is not the last.
  init(_ chunk: Int, of plan: ChunkPlan) {
    self.init(chunk, plan.input(of: chunk), isLast: false)
  }

  /// The last chunk of a stream of `end` frames.
  init(last chunk: Int, of plan: ChunkPlan, end: Int) {
    self.init(chunk, plan.input(of: chunk).lowerBound..<end, isLast: true)
  }

  /// Describes a chunk.
  init(_ chunk: Int, _ range: Range<Int>, isLast: Bool) {
    self.chunk = chunk
    self.range = range
    self.isLast = isLast
  }
}
