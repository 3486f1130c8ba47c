package import PipelineModel
package import Platform

extension DiskStore: ArtifactStore {
  /// The path of an artifact, for reading. Throws if it is missing, has the wrong length, or is
  /// damaged. Reads the file only if it is not the version verified last, or if that was more than
  /// 30 days ago.
  package func path(of artifact: Artifact) throws(SpoolError) -> String {
    guard let path = try soundPath(of: artifact, isRead: true) else { throw missing(artifact) }
    return path
  }

  /// The file of an artifact of any kind, unverified; nil if it is not in the store. One that cannot be
  /// looked at may be there: reading it says why not.
  package func file(of digest: Digest) -> String? {
    let path = layout.artifact(digest)
    do {
      _ = try FileStamp(at: path)
      return path
    } catch {
      return [.missing, .wrongKind].contains(error.kind) ? nil : path
    }
  }

  /// Starts an artifact. Bytes passed to `append` are hashed on the way; once the draft's path was
  /// requested, it is read again when it is sealed.
  package func makeDraft(_ kind: ArtifactKind) throws(SpoolError) -> ArtifactDraft {
    ArtifactDraft(DraftFile(kind, in: try drafts.makeFile(), for: artifacts, files: files))
  }

  /// The checkpoint under this key, without kept sound that is gone or damaged (it can be streamed
  /// again); nil if there is none, or if another artifact that it names is gone or damaged. Reads
  /// only artifacts whose files are not the versions verified last.
  package func checkpoint(for key: Checkpoint.Key) throws(SpoolError) -> Checkpoint? {
    let found = try withDatabase { (database) throws(SpoolError) in
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

  /// Records finished work durably. Throws, and records nothing, if an artifact that it names is
  /// not in the store.
  package func commit(_ checkpoint: Checkpoint) throws(SpoolError) {
    try requireArtifacts(of: checkpoint)
    let differences = try withDatabase { (database) throws(SpoolError) in
      try CheckpointTable.commit([checkpoint], to: &database)
    }
    tell(differences)
  }

  /// Whether a checkpoint of this stage kind has this hint. O(log n).
  package func hasCheckpoint(kind: String, hint: String) throws(SpoolError) -> Bool {
    try withDatabase { (database) throws(SpoolError) in
      try CheckpointTable.hasCheckpoint(kind: kind, hint: hint, in: &database)
    }
  }

  /// Bytes free for new artifacts.
  package func freeByteCount() throws(SpoolError) -> Int {
    try Self.freeByteCount(inFolder: path)
  }

  package func requirePlace() throws(SpoolError) {
    let found = try? FileStamp(following: path)
    if let place, found?.isSameFile(as: place) != true {
      throw SpoolError(
        "the store \(path) is gone", reason: "its folder was moved or deleted during the work",
        advice: "put the folder back, or name its new place with \(option: .store), and run it "
          + "again",
        cause: .environment)
    }
  }

  /// Throws if an artifact that the checkpoint names is not in the store.
  func requireArtifacts(of checkpoint: Checkpoint) throws(SpoolError) {
    for output in checkpoint.outputs.values {
      if let artifact = output.artifact, try soundPath(of: artifact) == nil {
        throw missing(artifact)
      }
    }
  }

  private func missing(_ artifact: Artifact) -> SpoolError {
    SpoolError(
      "use the \(artifact.kind.rawValue) artifact \(artifact.digest.short) of", path,
      reason: "it is not in the store with its \(artifact.byteCount) bytes",
      advice: "run the pipeline again: what is missing will be made again")
  }
}
