import Glibc
internal import Hashing
internal import Synchronization

/// A file whose beginning is right however long it is: what was written stays.
final class GrowingFile: EncodingSurvival {
  private let file: RawFile
  private let reached = Mutex(EncodingExtent())
  private let flushed = FlushOutcome()

  /// How long the file was when it was opened.
  let byteCountAtStart: Int

  /// Opens the file at `path`, or creates it. It keeps its content.
  init(path: String) throws(MediaError) {
    file = try RawFile(path: path, O_RDWR | O_CREAT)
    byteCountAtStart = try file.byteCount
  }

  /// Looks at the file at `path`, which stays as it is.
  init(reading path: String) throws(MediaError) {
    file = try RawFile(path: path, O_RDONLY | O_NOFOLLOW)
    byteCountAtStart = try file.byteCount
  }

  var extent: EncodingExtent { reached.withLock { $0 } }

  /// The file has grown, or goes on from here: the system holds this much.
  func reach(_ extent: EncodingExtent) { reached.withLock { $0 = extent } }

  /// The running checksum of some of its bytes. O(bytes).
  func checksum(_ range: Range<Int>) throws(MediaError) -> Checksum {
    var checksum = Checksum()
    for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.pieceByteCount) {
      let count = min(Self.pieceByteCount, range.upperBound - start)
      let piece = try file.read(count, at: start)
      unsafe checksum.update(piece.span.bytes)
    }
    return checksum
  }

  private static let pieceByteCount = 1 << 20

  /// Some of its bytes.
  func read(_ count: Int, at offset: Int) throws(MediaError) -> [UInt8] {
    try file.read(count, at: offset)
  }

  /// Cuts off what lies behind `byteCount`.
  func truncate(to byteCount: Int) throws(MediaError) { try file.truncate(to: byteCount) }

  func flush() throws(MediaError) {
    try flushed.unlessFailed { () throws(MediaError) in try file.flush() }
  }

  // The file itself is what was wanted.
  func discard() {}
}
