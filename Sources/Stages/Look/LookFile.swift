import PipelineModel

/// A file for people on its way into the store, gathered in pieces of some size.
struct LookFile: ~Copyable {
  private let draft: ArtifactDraft
  private var bytes: [UInt8] = []
  private static let pieceByteCount = 1 << 16

  /// Starts an empty file.
  init(in store: any ArtifactStore) throws(StageError) {
    do { draft = try store.makeDraft(.file) } catch { throw StageError(error) }
  }

  /// Adds bytes through `body`.
  mutating func add(_ body: (inout [UInt8]) -> Void) throws(StageError) {
    body(&bytes)
    if bytes.count >= Self.pieceByteCount { try write() }
  }

  /// Adds a text.
  mutating func add(_ text: String) throws(StageError) {
    bytes += Array(text.utf8)
    if bytes.count >= Self.pieceByteCount { try write() }
  }

  private mutating func write() throws(StageError) {
    let piece = bytes
    do { try unsafe draft.append(piece.span.bytes) } catch { throw StageError(error) }
    bytes.removeAll(keepingCapacity: true)
  }

  /// Makes it an artifact.
  consuming func seal() throws(StageError) -> Artifact {
    try write()
    do { return try draft.seal() } catch { throw StageError(error) }
  }
}
