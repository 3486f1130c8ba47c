internal import AudioModel

/// Sound that a chunk's encoder reads, on whatever thread it runs.
protocol ChunkSound: Sendable {
  /// Replaces the content of `buffer`, which has room for them, with the frames of `range`, counted
  /// from the start of the stream.
  func read(_ range: Range<Int>, into buffer: inout AudioBuffer) throws(MediaError)
}
