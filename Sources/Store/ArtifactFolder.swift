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
  func admit(_ draft: String, as artifact: Artifact) throws(StoreError) {
    let shard = layout.shard(of: artifact.digest)
    try makeDurable(shard: shard)
    let target = layout.artifact(artifact.digest)
    let isNew = path(of: artifact) == nil
    try doing("write the artifact", target) { () throws(SystemError) in
      if isNew {
        try files.rename(draft, to: target)
      } else {
        try files.unlink(draft)
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
