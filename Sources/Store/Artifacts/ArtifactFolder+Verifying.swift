import Glibc
import PipelineModel
import Platform

/// What is known of an artifact's bytes without reading them, and their verification.
extension ArtifactFolder {
  /// The condition of an artifact.
  enum State {
    case sound(path: String)
    case missing
    case damaged(ArtifactDamage)
  }

  /// Checks an artifact; reads it only if its file is not the version verified last, or if that was
  /// longer than `age` seconds ago (nil: any time).
  func look(at artifact: Artifact, verifiedWithin age: Double? = nil) throws(SpoolError) -> State {
    let path = layout.artifact(artifact.digest)
    guard let stamp = try? FileStamp(at: path), stamp.isRegularFile else { return .missing }
    let known = try verification(of: artifact.digest)
    let isRecent = known.map { row in
      // A time in the future is ignored: the clock was set back.
      age.map { (0..<$0).contains(now - row.verifiedAt) } ?? true
    }
    let isKnown = known?.covers(stamp) == true && isRecent == true
    if !isKnown, let damage = try verify(artifact.digest, at: path) { return .damaged(damage) }
    noteUse(of: artifact.digest, at: path, stamp)
    // A request with another length is for another artifact.
    return stamp.byteCount == Int64(artifact.byteCount) ? .sound(path: path) : .missing
  }

  /// Whether an artifact lies in place as it was verified. Reads nothing.
  func isVerified(_ artifact: Artifact) throws(SpoolError) -> Bool {
    guard let stamp = try? FileStamp(at: layout.artifact(artifact.digest)), stamp.isRegularFile,
      stamp.byteCount == Int64(artifact.byteCount)
    else { return false }
    return try verification(of: artifact.digest)?.covers(stamp) == true
  }

  /// Records what was just written and hashed. If that fails, it is read again when needed.
  func remember(_ digest: Digest, _ path: String) {
    guard let stamp = try? FileStamp(at: path) else { return }
    remember(digest, stamp)
  }

  /// Removes a folder of unfinished work; the caller holds its lock. Artifacts that had names there
  /// get new stamps, with the same bytes.
  func remove(_ folder: WorkFolder) {
    let shared = FilePath.names(in: folder.path).compactMap { name -> (Digest, FileStamp)? in
      guard let stamp = try? FileStamp(at: "\(folder.path)/\(name)"), stamp.hasSeveralNames,
        let digest = try? database.with({ (database) throws(SpoolError) in
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

  /// Reads an artifact.
  /// - Returns: what is wrong with it; nil if nothing, or if it is gone.
  private func verify(_ digest: Digest, at path: String) throws(SpoolError) -> ArtifactDamage? {
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
      guard error.code == EIO else { throw SpoolError("read the artifact", path, error) }
      return ArtifactDamage(
        digest: digest, stamp: before, problem: "it cannot be read: \(error.words)")
    }
  }

  private func verification(of digest: Digest) throws(SpoolError) -> VerifiedTable.Row? {
    try database.with { (database) throws(SpoolError) in
      try VerifiedTable.row(of: digest, in: &database)
    }
  }

  /// Age of the recorded use, in nanoseconds, below which it is not renewed: a use shows as up to this
  /// much earlier.
  static let useFreshness: Int64 = 600 * 1_000_000_000

  /// Records that an artifact is in use, so that it is not freed, as the modification time of its
  /// file, which is otherwise unused. Does nothing in a read-only store.
  func noteUse(of digest: Digest, at path: String, _ stamp: FileStamp) {
    guard !(0..<Self.useFreshness).contains(Clock.now() - stamp.modified),
      (try? FilePath.touch(path)) != nil, let renewed = try? FileStamp(at: path)
    else { return }
    move(digest, from: stamp, to: renewed)
  }

  private func remember(_ digest: Digest, _ stamp: FileStamp) {
    try? database.with { (database) throws(SpoolError) in
      try VerifiedTable.record(digest, stamp, at: now, in: &database)
    }
  }

  private func move(_ digest: Digest, from old: FileStamp, to new: FileStamp) {
    try? database.with { (database) throws(SpoolError) in
      try VerifiedTable.move(digest, from: old, to: new, in: &database)
    }
  }

  private var now: Double { Double(clock()) / 1e9 }
}
