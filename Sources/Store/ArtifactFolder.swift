import Glibc
internal import Hashing
internal import PipelineModel
internal import Synchronization

/// The store's finished files: immutable, read-only, named by their digests.
final class ArtifactFolder: Sendable {
  private let layout: StoreLayout
  private let files: FileOperations
  /// The shards whose own names this store has flushed.
  private let durableShards = Mutex<Set<String>>([])

  init(_ layout: StoreLayout, files: FileOperations) {
    self.layout = layout
    self.files = files
  }

  /// Where an artifact lies; nil if it is gone or has the wrong length.
  func path(of artifact: Artifact) -> String? {
    let path = layout.artifact(artifact.digest)
    guard let stamp = try? FileStamp(at: path), stamp.isRegularFile,
      stamp.byteCount == Int64(artifact.byteCount)
    else { return nil }
    LastUse.note(path, stamp)
    return path
  }

  /// Gives a flushed draft its final name and flushes that name. If the same bytes are there
  /// already, the draft goes.
  ///
  /// What is there under the right name with a wrong length was damaged, and is replaced.
  /// - Parameter isKept: whether the draft keeps its own name too, where the file system can give
  ///   one file two names.
  func admit(
    _ draft: String, as artifact: Artifact, isKept: Bool = false
  ) throws(StoreError) {
    let shard = layout.shard(of: artifact.digest)
    try makeDurable(shard: shard)
    let target = layout.artifact(artifact.digest)
    var isNew = path(of: artifact) == nil
    try doing("write the artifact", target) { () throws(SystemError) in
      switch (isNew, isKept) {
      case (true, true): isNew = try link(draft, to: target, as: artifact)
      case (true, false): try files.rename(draft, to: target)
      case (false, true): break
      case (false, false): try files.unlink(draft)
      }
      do throws(SystemError) {
        // Also for a file that was there: whoever put it there may not have got to this yet.
        try files.flushFolder(shard)
      } catch {
        // Nobody can vouch for the name now, so it must not be found.
        if isNew { try? files.unlink(target) }
        throw error
      }
    }
  }

  /// Gives a draft a second name in an artifact's place, which is empty or holds what was damaged.
  /// - Returns: false if another process was faster.
  private func link(
    _ draft: String, to target: String, as artifact: Artifact
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      try files.link(draft, to: target)
    } catch {
      switch error.code {
      case EEXIST:
        if path(of: artifact) != nil { return false }
        // What is damaged makes room.
        try files.rename(draft, to: target)
      case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
        // The file system knows one name for a file: better the artifact's than the draft's.
        try files.rename(draft, to: target)
      default: throw error
      }
    }
    return true
  }

  /// Makes a shard and flushes its name, once for every store that is opened: that it is there
  /// does not say that whoever made it got as far as flushing it.
  private func makeDurable(shard: String) throws(StoreError) {
    if durableShards.withLock({ $0.contains(shard) }) { return }
    try doing("make the folder", shard) { () throws(SystemError) in
      try files.makeFolder(shard, mode: 0o700)
      try files.flushFolder(layout.artifacts)
    }
    durableShards.withLock { _ = $0.insert(shard) }
  }
}
