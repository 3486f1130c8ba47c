public import Hashing

/// What an artifact, and so a port, carries.
public enum ArtifactKind: String, Hashable, Sendable, Codable, CaseIterable {
  /// Sound: decoded samples inside a pipeline, a recording at its start.
  case sound
  /// A finished file for people.
  case file
  /// Words, with or without times.
  case transcript
  /// Figures, as JSON.
  case measurement
  /// A signed statement.
  case receipt
}

/// An immutable file in the store, named by the SHA-256 of its bytes.
public struct Artifact: Hashable, Sendable, Codable {
  /// What it carries.
  public let kind: ArtifactKind
  /// The SHA-256 of its bytes.
  public let digest: Digest
  /// Its length in bytes.
  public let byteCount: Int

  /// Describes an artifact.
  public init(kind: ArtifactKind, digest: Digest, byteCount: Int) {
    self.kind = kind
    self.digest = digest
    self.byteCount = byteCount
  }
}

/// What a step gave at one port: always an identity, and, where it was kept, the bytes.
///
/// Sound that only flows through a pass is not kept; it can be streamed again from the nearest
/// kept sound above, and its identity is all that the steps below need for their keys.
public struct StepOutput: Hashable, Sendable, Codable {
  /// What the port carries.
  public let kind: ArtifactKind
  /// Equal identities mean equal bytes.
  public let identity: Digest
  /// The bytes in the store; nil where they were not kept.
  public var artifact: Artifact?

  /// Describes an output.
  public init(kind: ArtifactKind, identity: Digest, artifact: Artifact? = nil) {
    self.kind = kind
    self.identity = identity
    self.artifact = artifact
  }

  /// An output whose identity is the digest of the bytes that were kept.
  public init(_ artifact: Artifact) {
    self.init(kind: artifact.kind, identity: artifact.digest, artifact: artifact)
  }
}
