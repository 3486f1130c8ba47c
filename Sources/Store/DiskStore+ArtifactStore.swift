internal import Hashing
public import PipelineModel

extension DiskStore: ArtifactStore {
  /// Where an artifact lies, to be read. Throws when it is missing, has the wrong length, or is
  /// damaged. Takes one look at the file, and reads it only where it is not the version that was
  /// verified last, or where that was more than 30 days ago.
  public func path(of artifact: Artifact) throws(StoreError) -> String {
    guard let path = try soundPath(of: artifact, isRead: true) else { throw missing(artifact) }
    return path
  }

  /// Starts an artifact. Bytes that go through `append` are hashed on the way; once somebody has
  /// asked for the draft's path, it is read again when it is sealed.
  public func makeDraft(_ kind: ArtifactKind) throws(StoreError) -> ArtifactDraft {
    ArtifactDraft(DraftFile(kind, in: try drafts.makeFile(), for: artifacts, files: files))
  }

  /// What was recorded under this key, without the kept sound that is gone or damaged (it can be
  /// streamed again); nil if nothing was recorded, or if anything else that it names is gone or
  /// damaged. Artifacts are read where their files are not the versions that were verified last.
  public func checkpoint(for key: Checkpoint.Key) throws(StoreError) -> Checkpoint? {
    let found = try withDatabase { (database) throws(StoreError) in
      try CheckpointTable.checkpoint(for: key, in: &database)
    }
    guard var checkpoint = found else { return nil }
    for (port, output) in checkpoint.outputs {
      guard let artifact = output.artifact, try soundPath(of: artifact) == nil else { continue }
      if output.kind != .sound { return nil }
      checkpoint.outputs[port]?.artifact = nil
    }
    return checkpoint
  }

  /// Records finished work, durably. Throws, and records nothing, if an artifact that it names is
  /// not in the store.
  public func commit(_ checkpoint: Checkpoint) throws(StoreError) {
    try requireArtifacts(of: checkpoint)
    let differences = try withDatabase { (database) throws(StoreError) in
      try CheckpointTable.commit([checkpoint], to: &database, beside: records)
    }
    tell(differences)
  }

  /// Whether a checkpoint of this stage kind was recorded with this hint. One look at an index.
  public func hasCheckpoint(kind: String, hint: String) throws(StoreError) -> Bool {
    try withDatabase { (database) throws(StoreError) in
      try CheckpointTable.hasCheckpoint(kind: kind, hint: hint, in: &database)
    }
  }

  /// Bytes free for new artifacts.
  public func freeByteCount() throws(StoreError) -> Int {
    try Self.freeByteCount(inFolder: path)
  }

  /// Throws if an artifact that the checkpoint names is not in the store.
  func requireArtifacts(of checkpoint: Checkpoint) throws(StoreError) {
    for output in checkpoint.outputs.values {
      if let artifact = output.artifact, try soundPath(of: artifact) == nil {
        throw missing(artifact)
      }
    }
  }

  private func missing(_ artifact: Artifact) -> StoreError {
    StoreError(
      "use the \(artifact.kind.rawValue) artifact \(artifact.digest.short) of", path: path,
      reason: "it is not in the store with its \(artifact.byteCount) bytes",
      advice: "run the pipeline again: what is missing will be made again")
  }
}
