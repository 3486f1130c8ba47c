/// What was freed, or would be.
public struct CollectionReport: Hashable, Sendable, Codable {
  /// A file that goes.
  public struct File: Hashable, Sendable, Codable {
    /// Where it lies.
    public let path: String
    /// Its length in bytes.
    public let byteCount: Int
  }

  /// The files that went, the largest first; that would go, where `isDryRun`.
  public internal(set) var files: [File] = []
  /// The folders of unfinished work that nobody went on with.
  public internal(set) var unfinished: [File] = []
  /// How many checkpoints went with them.
  public internal(set) var checkpoints = 0
  /// How many runs lost something.
  public internal(set) var runs = 0
  /// How many bytes of files went.
  public internal(set) var freedBytes = 0
  /// How many bytes of artifacts are there still.
  public internal(set) var keptBytes = 0
  /// How many of them were wanted so lately that they are left alone.
  public internal(set) var recentBytes = 0
  /// How many runs did not come to their end, and so keep all that they need.
  public internal(set) var held = 0
  /// How many runs are pinned.
  public internal(set) var pinned = 0
  /// Whether nothing was changed.
  public let isDryRun: Bool
}
