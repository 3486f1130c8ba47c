import Glibc
internal import PipelineModel

/// A draft that an earlier process had sealed or was about to: nothing can be written into it any
/// more, because its bytes may be an artifact's already; it can only be sealed again.
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

  /// Throws, unless there is nothing to write.
  func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    if unsafe bytes.isEmpty { return }
    throw StoreError(
      "write the artifact", path: path, reason: "it was sealed already",
      advice: "seal it as it is, or start it anew")
  }

  /// Nothing: the bytes were flushed before it was sealed, and are once more when it is again.
  func flush() throws(StoreError) {}

  func seal() throws(StoreError) -> Artifact {
    try claim.requireLock()
    let action = "seal the artifact"
    let file = try doing(action, path) { () throws(SystemError) in
      try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
    let (digest, byteCount) = try doing(action, path) { () throws(SystemError) in
      let read = try files.digest(of: file)
      // The process that sealed it may have died before it had done either.
      try files.setMode(0o444, of: file)
      try files.flush(file)
      return read
    }
    let artifact = Artifact(kind: kind, digest: digest, byteCount: Int(byteCount))
    try artifacts.admit(path, as: artifact, isKept: true)
    return artifact
  }

  /// Nothing: it stays until the work ends.
  func discard() {}
}
