import Glibc
internal import Hashing
internal import PipelineModel

extension DiskClaim {
  func makeDraft(_ name: String, _ kind: ArtifactKind) throws(StoreError) -> ArtifactDraft {
    let path = try path(of: name)
    let file = try doing("start an artifact at", path) { () throws(SystemError) in
      // A sealed draft shares its bytes with the artifact: it must not be emptied but replaced.
      try removeDraft(at: path)
      let file = try files.open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND, mode: 0o600)
      try flushName(of: path)
      return file
    }
    return ArtifactDraft(DraftFile(kind, in: file, of: self, for: store.artifacts, files: files))
  }

  func resumeDraft(
    _ name: String, _ kind: ArtifactKind, _ prefix: DraftPrefix
  ) throws(StoreError) -> ArtifactDraft? {
    let path = try path(of: name)
    let action = "go on with the artifact at"
    let byteCount = prefix.byteCount
    guard let stamp = try? FileStamp(at: path) else { return nil }
    if !stamp.isRegularFile || stamp.isReadOnly || stamp.hasSeveralNames {
      if stamp.isRegularFile && stamp.byteCount == Int64(byteCount),
        try doing(action, path, { () throws(SystemError) in try isAsSealed(path, stamp, prefix) })
      {
        return ArtifactDraft(
          SealedDraft(kind, at: path, prefix, of: self, for: store.artifacts, files: files))
      }
      try doing(action, path) { () throws(SystemError) in try removeDraft(at: path) }
      return nil
    }
    guard byteCount >= 0, stamp.byteCount >= Int64(byteCount) else { return nil }
    let file = try doing(action, path) { () throws(SystemError) in
      try files.open(path, O_RDWR | O_APPEND | O_NOFOLLOW)
    }
    var hash: SHA256?
    if let digest = prefix.digest {
      let present = try doing(action, path) { () throws(SystemError) in
        try files.hash(of: file, upTo: Int64(byteCount))
      }
      // What was damaged since it was noted must not become part of anything.
      guard present.current == digest else { return nil }
      hash = consume present
    }
    try doing(action, path) { () throws(SystemError) in
      if stamp.byteCount > Int64(byteCount) { try files.truncate(file, to: byteCount) }
      try files.flushFolder(folder)
    }
    return ArtifactDraft(
      DraftFile(
        kind, in: file, presentCount: byteCount, presentHash: hash, of: self,
        for: store.artifacts, files: files))
  }

  private var files: FileOperations { store.files }

  /// Whether a draft that is an artifact already, or was about to be, still holds what that one's
  /// name or the prefix promises: what has been damaged since must not be sealed as something else.
  /// O(bytes).
  private func isAsSealed(
    _ path: String, _ stamp: FileStamp, _ prefix: DraftPrefix
  ) throws(SystemError) -> Bool {
    guard stamp.hasSeveralNames || prefix.digest != nil else { return true }
    let file = try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    let digest = try files.digest(of: file).digest
    if let promised = prefix.digest, digest != promised { return false }
    return !stamp.hasSeveralNames
      || (try? FileStamp(at: store.layout.artifact(digest)))?.isSameFile(as: stamp) == true
  }

  private func removeDraft(at path: String) throws(SystemError) {
    do throws(SystemError) {
      try files.unlink(path)
    } catch {
      if error.code != ENOENT { throw error }
    }
  }

  /// Makes sure that a power cut does not take the name whose bytes a note will vouch for.
  private func flushName(of path: String) throws(SystemError) {
    do throws(SystemError) {
      try files.flushFolder(folder)
    } catch {
      try? files.unlink(path)
      throw error
    }
  }

  /// Where the draft of this name lies. Throws unless it is a plain name, and not the lock's.
  private func path(of name: String) throws(StoreError) -> String {
    try requireLock()
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), name != WorkFolder.lockName
    else {
      throw StoreError(
        "write in", path: folder, reason: "\"\(name)\" cannot be the name of an unfinished file")
    }
    return "\(folder)/\(name)"
  }
}
