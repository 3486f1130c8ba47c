public import Hashing

/// Which recording something was made of.
public struct RecordingIdentity: Hashable, Sendable, Codable {
  /// Where it lay, as an absolute path.
  public let path: String
  /// The SHA-256 of its file.
  public let digest: Digest

  /// Describes a recording.
  public init(path: String, digest: Digest) {
    self.path = path
    self.digest = digest
  }

  /// Whether both are one recording: moved or renamed, it keeps its bytes; edited or tagged anew,
  /// it keeps its place.
  public func isSameRecording(as other: RecordingIdentity) -> Bool {
    digest == other.digest || path == other.path
  }
}

extension StageError {
  /// An export that would take the place of one that was made of another recording.
  public init(_ path: String, holds other: RecordingIdentity, not own: RecordingIdentity) {
    self.init(
      "\(path) was made of another recording",
      reason: "it holds \(other.path), and \(own.path) would take its place",
      advice: "choose another folder with --out, rename one of the recordings, or add --replace")
  }
}
