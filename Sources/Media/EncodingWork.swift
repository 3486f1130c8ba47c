/// Where an encoder keeps what survives the process, and how far an earlier process came.
public struct EncodingWork: Hashable, Sendable {
  /// A folder that exists and outlives the process.
  public let folder: String
  /// What the names of this encoder's own files in the folder begin with; no other encoder there
  /// has the same. It holds no slash.
  public let name: String
  /// The ``EncodingProgress/state`` that was noted last before the process died; nil for a new
  /// start, which forgets whatever lies in the folder under this name.
  public let resuming: String?

  /// Describes the work.
  public init(folder: String, name: String, resuming: String? = nil) {
    self.folder = folder
    self.name = name
    self.resuming = resuming
  }
}
