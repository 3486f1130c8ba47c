import Sidecars

/// A recording that was found in a batch's folder.
public struct FoundFile: Hashable, Sendable {
  /// Its path below the folder.
  public let path: String
  /// Its length in bytes.
  public let byteCount: Int
  /// When it was last written, in seconds since 1970.
  public let modifiedAt: Double
  /// The path of its sidecar below the folder; nil where there is none.
  public let sidecar: String?
  /// The paths of what may be its transcript below the folder, the likeliest first.
  public let transcripts: [String]

  /// Describes a file.
  public init(
    path: String, byteCount: Int, modifiedAt: Double = 0, sidecar: String? = nil,
    transcripts: [String] = []
  ) {
    self.path = path
    self.byteCount = byteCount
    self.modifiedAt = modifiedAt
    self.sidecar = sidecar
    self.transcripts = transcripts
  }

  /// The path of its folder below the batch's; empty for the batch's own.
  var folder: String { PathText.folder(of: path) }
  /// Its name without its extension.
  var stem: String { PathText.stem(of: PathText.name(of: path)) }
}
