import Glibc
internal import Hashing
internal import PipelineModel
internal import Synchronization

/// The store's finished files: immutable, read-only, named by their digests.
final class ArtifactFolder: Sendable {
  let layout: StoreLayout
  let files: FileOperations
  let database: SharedDatabase
  /// The time in nanoseconds since 1970.
  let clock: @Sendable () -> Int64
  /// The shards whose own names this store has flushed.
  private let durableShards = Mutex<Set<String>>([])

  init(
    _ layout: StoreLayout, files: FileOperations, database: SharedDatabase,
    clock: @escaping @Sendable () -> Int64
  ) {
    self.layout = layout
    self.files = files
    self.database = database
    self.clock = clock
  }

  /// Gives a flushed draft its final name and flushes that name. If the same bytes are there
  /// already, the draft goes.
  ///
  /// What is there under the right name and may be damaged is replaced.
  /// - Parameter isKept: whether the draft keeps its own name too, where the file system can give
  ///   one file two names.
  func admit(
    _ draft: String, as artifact: Artifact, isKept: Bool = false
  ) throws(StoreError) {
    let shard = layout.shard(of: artifact.digest)
    try makeDurable(shard: shard)
    let target = layout.artifact(artifact.digest)
    // What nobody can vouch for is not worth a reading here: there are good bytes to replace it.
    let isNew = try !isVerified(artifact)
    try doing("write the artifact", target) { () throws(SystemError) in
      switch (isNew, isKept) {
      case (true, true): try link(draft, to: target)
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
    if isNew { remember(artifact.digest, target) }
  }

  /// Gives a draft a second name in an artifact's place, which is empty or holds what nobody vouches
  /// for.
  private func link(_ draft: String, to target: String) throws(SystemError) {
    do throws(SystemError) {
      try files.link(draft, to: target)
    } catch {
      switch error.code {
      case EEXIST:
        // What is damaged makes room, and so does what another process has just put there.
        try files.rename(draft, to: target)
      case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
        // The file system knows one name for a file: better the artifact's than the draft's.
        try files.rename(draft, to: target)
      default: throw error
      }
    }
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
