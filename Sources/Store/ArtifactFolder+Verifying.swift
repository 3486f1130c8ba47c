import Glibc
internal import Hashing
internal import PipelineModel

/// What is known of an artifact's bytes without reading them, and what reading them says.
extension ArtifactFolder {
  /// How an artifact stands.
  enum Standing {
    /// It lies here, and its bytes are those that its name promises.
    case sound(path: String)
    /// It is not there.
    case missing
    /// Something else is there.
    case damaged(ArtifactDamage)
  }

  /// Looks at an artifact, and reads it only where its file is not the version that was verified
  /// last, or where that was too long ago.
  /// - Parameter age: how long ago it may have been, in seconds; nil for any time.
  func look(at artifact: Artifact, verifiedWithin age: Double? = nil) throws(StoreError) -> Standing
  {
    let path = layout.artifact(artifact.digest)
    guard let stamp = try? FileStamp(at: path), stamp.isRegularFile else { return .missing }
    let known = try verification(of: artifact.digest)
    let isRecent = known.map { row in
      // A time in the future says nothing: the clock was set back since.
      age.map { (0..<$0).contains(now - row.verifiedAt) } ?? true
    }
    let isKnown = known?.covers(stamp) == true && isRecent == true
    if !isKnown, let damage = try verify(artifact.digest, at: path) { return .damaged(damage) }
    noteUse(of: artifact.digest, at: path, stamp)
    // Whoever asks for it with another length means another artifact.
    return stamp.byteCount == Int64(artifact.byteCount) ? .sound(path: path) : .missing
  }

  /// Whether an artifact lies in its place as it was verified. Reads nothing.
  func isVerified(_ artifact: Artifact) throws(StoreError) -> Bool {
    guard let stamp = try? FileStamp(at: layout.artifact(artifact.digest)), stamp.isRegularFile,
      stamp.byteCount == Int64(artifact.byteCount)
    else { return false }
    return try verification(of: artifact.digest)?.covers(stamp) == true
  }

  /// Records what was just written and hashed. What cannot be recorded is read when it is wanted.
  func remember(_ digest: Digest, _ path: String) {
    guard let stamp = try? FileStamp(at: path) else { return }
    remember(digest, stamp)
  }

  /// Removes a folder of unfinished work, for whoever holds its lock. Artifacts that had names there
  /// have other stamps then, and the same bytes.
  func remove(_ folder: WorkFolder) {
    let shared = FilePath.names(in: folder.path).compactMap { name -> (Digest, FileStamp)? in
      guard let stamp = try? FileStamp(at: "\(folder.path)/\(name)"), stamp.hasSeveralNames,
        let digest = try? database.with({ (database) throws(StoreError) in
          try VerifiedTable.artifact(with: stamp, in: &database)
        })
      else { return nil }
      return (digest, stamp)
    }
    folder.remove()
    for (digest, before) in shared {
      guard let after = try? FileStamp(at: layout.artifact(digest)), after.isSameFile(as: before)
      else { continue }
      move(digest, from: before, to: after)
    }
  }

  /// Reads an artifact. - Returns: what is wrong with it; nil if nothing, or if it has gone.
  private func verify(_ digest: Digest, at path: String) throws(StoreError) -> ArtifactDamage? {
    var before: FileStamp?
    do throws(SystemError) {
      let file = try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let stamp = try file.stamp
      before = stamp
      let read = try files.digest(of: file).digest
      guard read == digest else {
        return ArtifactDamage(
          digest: digest, stamp: stamp, problem: "its bytes are not those that its name promises")
      }
      if try file.stamp == stamp { remember(digest, stamp) }
      return nil
    } catch {
      if error.code == ENOENT { return nil }
      guard error.code == EIO else { throw StoreError("read the artifact", path: path, error) }
      return ArtifactDamage(
        digest: digest, stamp: before, problem: "it cannot be read: \(error.words)")
    }
  }

  private func verification(of digest: Digest) throws(StoreError) -> VerifiedTable.Row? {
    try database.with { (database) throws(StoreError) in
      try VerifiedTable.row(of: digest, in: &database)
    }
  }

  private func noteUse(of digest: Digest, at path: String, _ stamp: FileStamp) {
    if let renewed = LastUse.note(path, stamp) { move(digest, from: stamp, to: renewed) }
  }

  private func remember(_ digest: Digest, _ stamp: FileStamp) {
    try? database.with { (database) throws(StoreError) in
      try VerifiedTable.record(digest, stamp, at: now, in: &database)
    }
  }

  private func move(_ digest: Digest, from old: FileStamp, to new: FileStamp) {
    try? database.with { (database) throws(StoreError) in
      try VerifiedTable.move(digest, from: old, to: new, in: &database)
    }
  }

  private var now: Double { Double(clock()) / 1e9 }
}
