/// Where artifacts and checkpoints live: the contract that stages and the engine work against.
///
/// Every method may be called from any thread. What a method has returned from is durable: it
/// survives a power cut.
public protocol ArtifactStore: Sendable {
  /// Where an artifact lies. Throws when it is missing or has the wrong length.
  func path(of artifact: Artifact) throws(StoreError) -> String

  /// Starts an artifact: an empty file that nobody else sees.
  func makeDraft(_ kind: ArtifactKind) throws(StoreError) -> ArtifactDraft

  /// What was recorded under this key; nil if nothing was, or if an artifact it names is gone.
  func checkpoint(for key: Checkpoint.Key) throws(StoreError) -> Checkpoint?

  /// Records finished work. Its artifacts must have been sealed. Recording the same key again
  /// keeps every artifact that either record names.
  func commit(_ checkpoint: Checkpoint) throws(StoreError)

  /// Whether a checkpoint of this stage kind was recorded with this hint.
  func hasCheckpoint(kind: String, hint: String) throws(StoreError) -> Bool

  /// The text of a small artifact (findings, say); throws for one over 1 MiB.
  func text(of artifact: Artifact) throws(StoreError) -> String

  /// Bytes free for new artifacts.
  func freeByteCount() throws(StoreError) -> Int
}

extension ArtifactStore {
  /// Seals a text as an artifact.
  public func keep(_ text: String, as kind: ArtifactKind) throws(StoreError) -> Artifact {
    try keep(Array(text.utf8), as: kind)
  }

  /// Seals bytes as an artifact.
  public func keep(_ bytes: [UInt8], as kind: ArtifactKind) throws(StoreError) -> Artifact {
    let draft = try makeDraft(kind)
    try unsafe draft.append(bytes.span.bytes)
    return try draft.seal()
  }
}

/// An artifact that is still being written. It is sealed once, or deleted.
///
/// Write to the file at `path` by any means, then `seal`. What was appended through `append` alone
/// is hashed on the way; anything else is read once more when it is sealed.
public struct ArtifactDraft: ~Copyable, Sendable {
  /// The file that the bytes go to.
  public var path: String { backing.path }
  private let backing: any DraftBacking

  /// Wraps what a store made; `backing` deletes the file if the draft is dropped.
  public init(_ backing: any DraftBacking) { self.backing = backing }

  deinit { backing.discard() }

  /// Writes bytes behind those written so far, and hashes them.
  public func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    try unsafe backing.append(bytes)
  }

  /// Writes bytes behind those written so far, and hashes them.
  public func append(_ bytes: RawSpan) throws(StoreError) {
    try unsafe bytes.withUnsafeBytes { (bytes) throws(StoreError) in try unsafe append(bytes) }
  }

  /// Flushes what has been appended so far to the disk. Long writers call it now and then, so
  /// that the last flush is short.
  public func flush() throws(StoreError) { try backing.flush() }

  /// Flushes as `flush` does, from any thread, while another one goes on appending.
  public var flusher: @Sendable () throws(StoreError) -> Void {
    let backing = backing
    return { () throws(StoreError) in try backing.flush() }
  }

  /// Tells from any thread what was appended so far, for a note that vouches for it.
  public var prefix: @Sendable () -> DraftPrefix {
    let backing = backing
    return { backing.prefix }
  }

  /// Flushes the file, names it by its digest and flushes the folder. Afterwards it is an
  /// artifact, and durable.
  public consuming func seal() throws(StoreError) -> Artifact { try backing.seal() }
}

/// What a store gives a draft to stand on. Used from one thread at a time, but for `flush` and
/// `prefix`, which any thread may call.
public protocol DraftBacking: AnyObject, Sendable {
  /// The file that the bytes go to.
  var path: String { get }
  /// Writes and hashes.
  func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError)
  /// What was appended so far. O(1).
  var prefix: DraftPrefix { get }
  /// Flushes the file.
  func flush() throws(StoreError)
  /// Flushes, gives the file its place as an artifact, flushes the folder.
  func seal() throws(StoreError) -> Artifact
  /// Deletes the file unless it was sealed, or belongs to a piece of work.
  func discard()
}

/// Something that the store could not do.
public struct StoreError: Error, Hashable, Sendable {
  /// What was being done: `write the artifact`.
  public let action: String
  /// The file or folder it was done to.
  public let path: String
  /// Why it failed, in the system's or the library's own words.
  public let reason: String
  /// What the user can do.
  public let advice: String?
  /// Whether all it wants is room on the disk.
  public let isFullDisk: Bool
  /// Whether the work was given to another process while this one was stopped.
  public let isTakenOver: Bool

  /// Describes a failure.
  public init(
    _ action: String, path: String, reason: String, advice: String? = nil,
    isFullDisk: Bool = false, isTakenOver: Bool = false
  ) {
    self.action = action
    self.path = path
    self.reason = reason
    self.advice = advice
    self.isFullDisk = isFullDisk
    self.isTakenOver = isTakenOver
  }
}
