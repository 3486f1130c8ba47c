import Glibc
internal import Hashing
internal import PipelineModel
internal import Synchronization

/// An artifact on its way: a file that is hashed while it grows.
///
/// A draft of the store's own goes when it is dropped or fails. One that belongs to a piece of work
/// stays for whoever goes on with the work, unless a flush failed: then nobody can tell what of it
/// reached the disk.
final class DraftFile: DraftBacking {
  private struct State: ~Copyable {
    /// Nil once the draft was sealed or has failed.
    var file: OpenFile?
    var hash: SHA256? = SHA256()
    var byteCount = 0
    /// How far the disk has been told to begin writing.
    var writebackCount = 0
    /// Whether bytes may lie there that were not hashed on the way.
    var needsReading = false
    /// What it was when it was sealed, if it was.
    var sealed: DraftPrefix?
  }

  /// How much is written between two nudges to the disk.
  private static let writebackByteCount = 8 << 20

  private let kind: ArtifactKind
  private let location: String
  private let artifacts: ArtifactFolder
  private let files: FileOperations
  /// What the draft belongs to, and keeps; nil for a draft of the store's own.
  private let claim: DiskClaim?
  /// Whether the hash begins where the file does.
  private let isHashedFromStart: Bool
  private let state: Mutex<State>

  /// A draft in an empty file, or one that goes on behind the first bytes of a file.
  /// - Parameters:
  ///   - presentCount: how many bytes the file holds.
  ///   - presentHash: what they hash to so far; nil where they were not read, and will be at the end.
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

  /// Where the bytes go. From now on the draft cannot know who writes there, and will be read
  /// once more when it is sealed.
  var path: String {
    state.withLock { $0.needsReading = true }
    return location
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    try claim?.requireLock()
    try state.withLock { (state) throws(StoreError) in
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

  func flush() throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      guard let file = state.file.take() else { throw spent }
      do throws(SystemError) {
        try files.flush(file)
        state.file = consume file
      } catch {
        // The bytes that did not reach the disk cannot be told from those that did.
        try? files.unlink(location)
        throw StoreError("flush the artifact", path: location, error)
      }
    }
  }

  func seal() throws(StoreError) -> Artifact {
    try claim?.requireLock()
    return try state.withLock { (state) throws(StoreError) in
      guard let file = state.file.take(), let hash = state.hash.take() else { throw spent }
      do throws(StoreError) {
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

  private func write(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws(StoreError) {
    guard let file = state.file.take() else { throw spent }
    let end = state.byteCount + bytes.count
    do {
      try unsafe files.write(bytes, to: file)
    } catch {
      removeUnlessKept()
      throw StoreError("write the artifact", path: location, error)
    }
    if end - state.writebackCount >= Self.writebackByteCount {
      files.startWriteback(
        of: file, from: state.writebackCount, byteCount: end - state.writebackCount)
      state.writebackCount = end
    }
    state.file = consume file
  }

  /// Others may have written into the file, or put another in its place.
  private func admitWhatLiesAtPath() throws(StoreError) -> Artifact {
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
  ) throws(StoreError) -> Artifact {
    try requireName(of: file)
    do {
      try files.setMode(0o444, of: file)
      try files.flush(file)
    } catch {
      try? files.unlink(location)
      throw StoreError("flush the artifact", path: location, error)
    }
    let artifact = Artifact(kind: kind, digest: digest, byteCount: byteCount)
    try artifacts.admit(location, as: artifact, isKept: claim != nil)
    return artifact
  }

  /// Throws if the name leads to another file than the one that was hashed: it would be taken for
  /// an artifact that it is not.
  private func requireName(of file: borrowing OpenFile) throws(StoreError) {
    let isSame = try doing("seal the artifact", location) { () throws(SystemError) in
      try FileStamp(at: location).isSameFile(as: file.stamp)
    }
    if !isSame {
      throw StoreError(
        "seal the artifact", path: location, reason: "another file was put in its place")
    }
  }

  private func removeUnlessKept() {
    if claim == nil { try? files.unlink(location) }
  }

  private var spent: StoreError {
    StoreError(
      "write the artifact", path: location,
      reason: "an earlier write or flush of it failed, or it was sealed already")
  }
}
