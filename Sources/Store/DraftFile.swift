import Glibc
internal import Hashing
internal import PipelineModel
internal import Synchronization

/// An artifact on its way: a file under `drafts/` that is hashed while it grows.
final class DraftFile: DraftBacking {
  private struct State: ~Copyable {
    /// Nil once the draft was sealed or has failed.
    var file: OpenFile?
    var hash: SHA256? = SHA256()
    var appendedCount = 0
    /// How far the disk has been told to begin writing.
    var writebackCount = 0
    /// Whether somebody learnt the path, and so may have written there.
    var isPathKnown = false
  }

  /// How much is written between two nudges to the disk.
  private static let writebackByteCount = 8 << 20

  private let kind: ArtifactKind
  private let location: String
  private let artifacts: ArtifactFolder
  private let files: FileOperations
  private let state: Mutex<State>

  init(
    _ kind: ArtifactKind, in drafts: DraftFolder, for artifacts: ArtifactFolder
  ) throws(StoreError) {
    let file = try drafts.makeFile()
    self.kind = kind
    self.artifacts = artifacts
    location = file.path
    files = drafts.files
    state = Mutex(State(file: file))
  }

  /// Where the bytes go. From now on the draft cannot know who writes there, and will be read
  /// once more when it is sealed.
  var path: String {
    state.withLock { $0.isPathKnown = true }
    return location
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      try unsafe write(bytes, &state)
      unsafe state.hash?.update(bytes)
      state.appendedCount += bytes.count
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
    try state.withLock { (state) throws(StoreError) in
      guard let file = state.file.take(), let hash = state.hash.take() else { throw spent }
      do throws(StoreError) {
        if state.isPathKnown { return try admitWhatLiesAtPath() }
        return try admit(file, digest: hash.finalize(), byteCount: state.appendedCount)
      } catch {
        try? files.unlink(location)
        throw error
      }
    }
  }

  func discard() {
    state.withLock { (state) in
      if state.file.take() != nil { try? files.unlink(location) }
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws(StoreError) {
    guard let file = state.file.take() else { throw spent }
    let end = state.appendedCount + bytes.count
    do {
      try unsafe files.write(bytes, to: file)
    } catch {
      try? files.unlink(location)
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
    do {
      try files.setMode(0o444, of: file)
      try files.flush(file)
    } catch {
      throw StoreError("flush the artifact", path: location, error)
    }
    let artifact = Artifact(kind: kind, digest: digest, byteCount: byteCount)
    try artifacts.admit(location, as: artifact)
    return artifact
  }

  private var spent: StoreError {
    StoreError(
      "write the artifact", path: location,
      reason: "an earlier write or flush of it failed, or it was sealed already")
  }
}
