import Glibc
internal import PipelineModel
internal import Platform
internal import Synchronization

/// An unsealed artifact: a file that is hashed while it grows.
///
/// The store's own drafts are removed when they are dropped or fail. A claim's draft stays for the
/// process that resumes the work, unless a flush failed: then its durable length is unknown.
final class DraftFile: DraftBacking {
  private struct State: ~Copyable {
    var file: OpenFile?
    var hash: SHA256? = SHA256()
    var byteCount = 0
    /// Bytes for which writeback was started.
    var writebackCount = 0
    /// Whether the file may hold bytes that were not hashed.
    var needsReading = false
    /// The prefix at the time of sealing.
    var sealed: DraftPrefix?
  }

  /// Bytes between two starts of writeback.
  private static let writebackByteCount = 8 << 20

  private let kind: ArtifactKind
  private let location: String
  private let artifacts: ArtifactFolder
  private let files: FileOperations
  /// The claim that the draft belongs to and retains; nil for the store's own drafts.
  private let claim: DiskClaim?
  /// Whether the hash begins at the start of the file.
  private let isHashedFromStart: Bool
  private let state: Mutex<State>

  /// Opens a draft in an empty file, or one that continues after the first bytes of a file.
  /// - Parameters:
  ///   - presentCount: bytes in the file.
  ///   - presentHash: their running hash; nil if they are still to be read.
  init(
    _ kind: ArtifactKind, in file: consuming OpenFile, presentCount: Int = 0,
    presentHash: consuming SHA256? = nil, of claim: DiskClaim? = nil,
    for artifacts: ArtifactFolder, files: FileOperations
  ) {
    isHashedFromStart = presentCount == 0 || presentHash != nil
    self.kind = kind
    self.claim = claim
    self.artifacts = artifacts
    self.files = files
    location = file.path
    state = Mutex(
      State(
        file: file, hash: presentHash ?? SHA256(), byteCount: presentCount,
        writebackCount: presentCount, needsReading: !isHashedFromStart))
  }

  /// The path to write to. After this call the draft is read again when it is sealed.
  var path: String {
    state.withLock { $0.needsReading = true }
    return location
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(SpoolError) {
    try claim?.requireLock()
    try state.withLock { (state) throws(SpoolError) in
      try unsafe write(bytes, &state)
      unsafe state.hash?.update(bytes)
      state.byteCount += bytes.count
    }
  }

  var prefix: DraftPrefix {
    state.withLock { state in
      if let sealed = state.sealed { return sealed }
      return DraftPrefix(
        byteCount: state.byteCount, digest: isHashedFromStart ? state.hash?.current : nil)
    }
  }

  func flush() throws(SpoolError) {
    try state.withLock { (state) throws(SpoolError) in
      guard let file = state.file.take() else { throw spent }
      do throws(SystemError) {
        try files.flush(file)
        state.file = consume file
      } catch {
        // After a failed flush, written and lost bytes cannot be told apart.
        try? files.unlink(location)
        throw SpoolError("flush the artifact", location, error)
      }
    }
  }

  func seal() throws(SpoolError) -> Artifact {
    try claim?.requireLock()
    return try state.withLock { (state) throws(SpoolError) in
      guard let file = state.file.take(), let hash = state.hash.take() else { throw spent }
      do throws(SpoolError) {
        let artifact =
          state.needsReading
          ? try admitWhatLiesAtPath()
          : try admit(file, digest: hash.finalize(), byteCount: state.byteCount)
        state.sealed = DraftPrefix(byteCount: artifact.byteCount, digest: artifact.digest)
        return artifact
      } catch {
        removeUnlessKept()
        throw error
      }
    }
  }

  func discard() {
    state.withLock { (state) in
      if state.file.take() != nil { removeUnlessKept() }
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws(SpoolError) {
    guard let file = state.file.take() else { throw spent }
    let end = state.byteCount + bytes.count
    do {
      try unsafe files.write(bytes, to: file)
    } catch {
      removeUnlessKept()
      throw SpoolError("write the artifact", location, error)
    }
    if end - state.writebackCount >= Self.writebackByteCount {
      files.startWriteback(
        of: file, from: state.writebackCount, byteCount: end - state.writebackCount)
      state.writebackCount = end
    }
    state.file = consume file
  }

  /// Another process may have written into the file or replaced it.
  private func admitWhatLiesAtPath() throws(SpoolError) -> Artifact {
    let action = "read the artifact"
    let file = try doing(action, location) { () throws(SystemError) in
      try files.open(location, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    }
    let (digest, byteCount) = try doing(action, location) { () throws(SystemError) in
      try files.digest(of: file)
    }
    return try admit(file, digest: digest, byteCount: Int(byteCount))
  }

  private func admit(
    _ file: borrowing OpenFile, digest: Digest, byteCount: Int
  ) throws(SpoolError) -> Artifact {
    try requireName(of: file)
    do {
      try files.setMode(0o444, of: file)
      try files.flush(file)
    } catch {
      try? files.unlink(location)
      throw SpoolError("flush the artifact", location, error)
    }
    let artifact = Artifact(kind: kind, digest: digest, byteCount: byteCount)
    try artifacts.admit(location, as: artifact, isKept: claim != nil)
    return artifact
  }

  /// Throws if the name leads to another file than the hashed one.
  private func requireName(of file: borrowing OpenFile) throws(SpoolError) {
    let isSame = try doing("seal the artifact", location) { () throws(SystemError) in
      try FileStamp(at: location).isSameFile(as: file.stamp)
    }
    if !isSame {
      throw SpoolError(
        "seal the artifact", location, reason: "another file was put in its place")
    }
  }

  private func removeUnlessKept() {
    if claim == nil { try? files.unlink(location) }
  }

  private var spent: SpoolError {
    SpoolError(
      "write the artifact", location,
      reason: "an earlier write or flush of it failed, or it was sealed already")
  }
}
