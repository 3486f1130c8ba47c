package import Platform

/// Stores artifacts and checkpoints.
///
/// Every method may be called from any thread and is durable on return: its effect survives a power
/// failure.
package protocol ArtifactStore: Sendable {
  /// An artifact's path. Throws if it is missing or has the wrong length.
  func path(of artifact: Artifact) throws(SpoolError) -> String

  /// Starts an artifact: an empty, private file.
  func makeDraft(_ kind: ArtifactKind) throws(SpoolError) -> ArtifactDraft

  /// The checkpoint of a key; nil if there is none, or if one of its artifacts is gone.
  func checkpoint(for key: Checkpoint.Key) throws(SpoolError) -> Checkpoint?

  /// Records finished work. Its artifacts must be sealed. Recording a key again keeps the artifacts
  /// of both records.
  func commit(_ checkpoint: Checkpoint) throws(SpoolError)

  func hasCheckpoint(kind: String, hint: String) throws(SpoolError) -> Bool

  /// The text of a small artifact (findings, say); throws above 1 MiB.
  func text(of artifact: Artifact) throws(SpoolError) -> String

  /// Bytes free for new artifacts.
  func freeByteCount() throws(SpoolError) -> Int

  /// Throws if the store's folder is no longer where it was opened.
  func requirePlace() throws(SpoolError)

  /// Claims a piece of work, with its folder and journal.
  /// - Parameters:
  ///   - work: identifies the work: equal work has equal digests in every process.
  ///   - summary: a short description for people.
  func claim(_ work: Digest, summary: String) throws(SpoolError) -> ClaimAnswer

  /// Whether there are notes of unfinished work.
  func hasNotes(of work: Digest) throws(SpoolError) -> Bool
}

extension ArtifactStore {
  package func keep(_ text: String, as kind: ArtifactKind) throws(SpoolError) -> Artifact {
    try keep(Array(text.utf8), as: kind)
  }

  package func keep(_ bytes: [UInt8], as kind: ArtifactKind) throws(SpoolError) -> Artifact {
    let draft = try makeDraft(kind)
    try unsafe draft.append(bytes.span.bytes)
    return try draft.seal()
  }

  /// The bytes of an artifact. O(n) in memory: for small ones.
  package func bytes(of artifact: Artifact) throws(SpoolError) -> [UInt8] {
    let path = try path(of: artifact)
    return try doing("read", path) { () throws(SystemError) in
      try FileOperations.system.bytes(of: path)
    }
  }
}

/// An artifact that is being written. It is sealed once, or deleted.
///
/// Write to the file at `path` by any means, then `seal`. Bytes written through `append` alone are
/// hashed on the way; any others are read again when it is sealed.
package struct ArtifactDraft: ~Copyable, Sendable {
  /// The file of the bytes.
  package var path: String { backing.path }
  private let backing: any DraftBacking

  /// `backing` deletes the file if the draft is dropped.
  package init(_ backing: any DraftBacking) { self.backing = backing }

  deinit { backing.discard() }

  /// Appends bytes, and hashes them.
  package func append(_ bytes: UnsafeRawBufferPointer) throws(SpoolError) {
    try unsafe backing.append(bytes)
  }

  /// Appends bytes, and hashes them.
  package func append(_ bytes: RawSpan) throws(SpoolError) {
    try unsafe bytes.withUnsafeBytes { (bytes) throws(SpoolError) in try unsafe append(bytes) }
  }

  /// Flushes the appended bytes to the disk. Long writers call it periodically, so that the last
  /// flush is short.
  package func flush() throws(SpoolError) { try backing.flush() }

  /// Flushes as `flush` does, from any thread, during appends.
  package var flusher: @Sendable () throws(SpoolError) -> Void {
    let backing = backing
    return { () throws(SpoolError) in try backing.flush() }
  }

  /// The appended prefix, from any thread, for a journal entry.
  package var prefix: @Sendable () -> DraftPrefix {
    let backing = backing
    return { backing.prefix }
  }

  /// Flushes the file, names it by its digest and flushes the folder. It is then a durable
  /// artifact.
  package consuming func seal() throws(SpoolError) -> Artifact { try backing.seal() }
}

/// A store's side of a draft. Used by one thread at a time, except `flush` and `prefix`, which any
/// thread may call.
package protocol DraftBacking: AnyObject, Sendable {
  /// The file of the bytes.
  var path: String { get }
  func append(_ bytes: UnsafeRawBufferPointer) throws(SpoolError)
  /// The appended prefix. O(1).
  var prefix: DraftPrefix { get }
  func flush() throws(SpoolError)
  /// Flushes the file, moves it to its place as an artifact, flushes the folder.
  func seal() throws(SpoolError) -> Artifact
  /// Deletes the file unless it was sealed, or belongs to a claim.
  func discard()
}

/// A draft's prefix as recorded in a journal entry: a resumed draft has exactly these bytes.
package struct DraftPrefix: Hashable, Sendable, Codable {
  package let byteCount: Int
  /// Their SHA-256; nil if they were not written through the draft: the writer must verify them
  /// itself.
  package let digest: Digest?

  package init(byteCount: Int, digest: Digest? = nil) {
    self.byteCount = byteCount
    self.digest = digest
  }
}

/// The kind of an artifact, and so of a port.
package enum ArtifactKind: String, Hashable, Sendable, Codable, CaseIterable {
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
package struct Artifact: Hashable, Sendable, Codable {
  package let kind: ArtifactKind
  /// The SHA-256 of its bytes.
  package let digest: Digest
  package let byteCount: Int

  package init(kind: ArtifactKind, digest: Digest, byteCount: Int) {
    self.kind = kind
    self.digest = digest
    self.byteCount = byteCount
  }
}

/// A step's output at one port: always an identity, and, if it was kept, the bytes.
///
/// Sound that only flows through a pass is not kept; it can be streamed again from the nearest kept
/// sound above, and its identity suffices for the keys of the steps below.
package struct StepOutput: Hashable, Sendable, Codable {
  package let kind: ArtifactKind
  /// Equal identities mean equal bytes.
  package let identity: Digest
  /// The bytes in the store; nil if they were not kept.
  package var artifact: Artifact?

  package init(kind: ArtifactKind, identity: Digest, artifact: Artifact? = nil) {
    self.kind = kind
    self.identity = identity
    self.artifact = artifact
  }

  /// The same output without its bytes.
  package var unkept: StepOutput { StepOutput(kind: kind, identity: identity) }

  /// An output whose identity is the digest of its bytes.
  package init(_ artifact: Artifact) {
    self.init(kind: artifact.kind, identity: artifact.digest, artifact: artifact)
  }
}
