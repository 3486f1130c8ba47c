import Glibc
import PipelineModel
import Platform

extension DiskClaim {
  func makeDraft(_ name: String, _ kind: ArtifactKind) throws(SpoolError) -> ArtifactDraft {
    let path = try path(of: name)
    let file = try doing("start an artifact at", path) { () throws(SystemError) in
      // A sealed draft shares its bytes with the artifact: replace it, do not truncate it.
      try files.unlinkIfThere(path)
      let file = try files.open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND, mode: 0o600)
      try flushName(of: path)
      return file
    }
    return ArtifactDraft(DraftFile(kind, in: file, of: self, for: store.artifacts, files: files))
  }

  func resumeDraft(
    _ name: String, _ kind: ArtifactKind, _ prefix: DraftPrefix
  ) throws(SpoolError) -> ArtifactDraft? {
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
      // Sealed after the prefix was recorded, and before the work was.
      let isCopied =
        stamp.isRegularFile && prefix.digest != nil && byteCount >= 0
        && stamp.byteCount > Int64(byteCount)
        && (try? replaceByCopy(path)) != nil
      guard isCopied else {
        try doing(action, path) { () throws(SystemError) in try files.unlinkIfThere(path) }
        return nil
      }
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
      // Bytes damaged since they were recorded must not enter an artifact.
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

  /// Replaces a sealed draft, whose bytes an artifact shares, by a copy that can be written to.
  private func replaceByCopy(_ path: String) throws(SpoolError) {
    let copy = path + ".copy"
    try files.copyFile(from: path, to: copy)
    try doing("go on with the artifact at", path) { () throws(SystemError) in
      let file = try files.open(copy, O_RDWR | O_NOFOLLOW)
      try files.setMode(0o600, of: file)
      // The journal names its bytes.
      try files.flush(file)
      try files.rename(copy, to: path)
    }
  }

  /// Whether a sealed or nearly sealed draft still has the digest of its artifact or prefix.
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

  /// Flushes the folder, so that a name whose bytes a journal entry names survives a power cut.
  private func flushName(of path: String) throws(SystemError) {
    do throws(SystemError) {
      try files.flushFolder(folder)
    } catch {
      try? files.unlink(path)
      throw error
    }
  }

  /// The path of the draft of this name. Throws unless it is a plain name other than the lock's.
  private func path(of name: String) throws(SpoolError) -> String {
    try requireLock()
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), name != WorkFolder.lockName
    else {
      throw SpoolError(
        "write in", folder, reason: "\"\(name)\" cannot be the name of an unfinished file")
    }
    return "\(folder)/\(name)"
  }
}

/// A draft that an earlier process sealed or was sealing. It is read-only, because an artifact may
/// share its bytes; it can only be sealed again.
final class SealedDraft: DraftBacking {
  let path: String

  let prefix: DraftPrefix
  private let kind: ArtifactKind
  private let claim: DiskClaim
  private let artifacts: ArtifactFolder
  private let files: FileOperations

  init(
    _ kind: ArtifactKind, at path: String, _ prefix: DraftPrefix, of claim: DiskClaim,
    for artifacts: ArtifactFolder, files: FileOperations
  ) {
    self.prefix = prefix
    self.kind = kind
    self.path = path
    self.claim = claim
    self.artifacts = artifacts
    self.files = files
  }

  /// Throws unless the bytes are empty.
  func append(_ bytes: UnsafeRawBufferPointer) throws(SpoolError) {
    if unsafe bytes.isEmpty { return }
    throw SpoolError(
      "write the artifact", path, reason: "it was sealed already",
      advice: "seal it as it is, or start it anew")
  }

  /// The bytes were flushed before sealing, and are flushed when sealed again.
  func flush() throws(SpoolError) {}

  func seal() throws(SpoolError) -> Artifact {
    try claim.requireLock()
    let action = "seal the artifact"
    let file = try doing(action, path) { () throws(SystemError) in
      try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
    let (digest, byteCount) = try doing(action, path) { () throws(SystemError) in
      let read = try files.digest(of: file)
      // The earlier process may have died before either step.
      try files.setMode(0o444, of: file)
      try files.flush(file)
      return read
    }
    let artifact = Artifact(kind: kind, digest: digest, byteCount: Int(byteCount))
    try artifacts.admit(path, as: artifact, isKept: true)
    return artifact
  }

  /// It stays until the work ends.
  func discard() {}
}
