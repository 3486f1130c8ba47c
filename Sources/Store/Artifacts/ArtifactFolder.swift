import Glibc
internal import PipelineModel
internal import Platform
internal import Synchronization

/// The store's finished files: immutable, read-only, named by their digests.
final class ArtifactFolder: Sendable {
  let layout: StoreLayout
  let files: FileOperations
  let database: SharedDatabase
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

  /// Gives a flushed draft its final name and flushes that name. Drops the draft if the same bytes
  /// are already there. Replaces an existing file that may be damaged.
  /// - Parameter isKept: whether the draft keeps its own name too, if the file system has hard
  ///   links.
  func admit(
    _ draft: String, as artifact: Artifact, isKept: Bool = false
  ) throws(SpoolError) {
    let shard = layout.shard(of: artifact.digest)
    try makeDurable(shard: shard)
    let target = layout.artifact(artifact.digest)
    // An unverified file is not read: good bytes replace it.
    let isNew = try !isVerified(artifact)
    try doing("write the artifact", target) { () throws(SystemError) in
      switch (isNew, isKept) {
      case (true, true): try link(draft, to: target)
      case (true, false): try files.rename(draft, to: target)
      case (false, true): break
      case (false, false): try files.unlink(draft)
      }
      do throws(SystemError) {
        // Also for an existing file: its writer may not have flushed the folder yet.
        try files.flushFolder(shard)
      } catch {
        // The name may not be durable, so it must not be found.
        if isNew { try? files.unlink(target) }
        throw error
      }
    }
    if isNew {
      remember(artifact.digest, target)
    } else if let stamp = try? FileStamp(at: target) {
      // Its writer relies on it as a reader does.
      noteUse(of: artifact.digest, at: target, stamp)
    }
  }

  /// Links a draft into an artifact's place, which is empty or holds an unverified file.
  private func link(_ draft: String, to target: String) throws(SystemError) {
    do throws(SystemError) {
      try files.link(draft, to: target)
    } catch {
      switch error.code {
      case EEXIST:
        // Replaces a damaged file, or one that another process has just put there.
        try files.rename(draft, to: target)
      case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
        // Without hard links, the artifact's name replaces the draft's.
        try files.rename(draft, to: target)
      default: throw error
      }
    }
  }

  /// Makes a shard and flushes its name, once per opened store: an existing folder may not have
  /// been flushed.
  private func makeDurable(shard: String) throws(SpoolError) {
    if durableShards.withLock({ $0.contains(shard) }) { return }
    try doing("make the folder", shard) { () throws(SystemError) in
      try files.makeFolder(shard, mode: 0o700)
      try files.flushFolder(layout.artifacts)
    }
    durableShards.withLock { _ = $0.insert(shard) }
  }
}

/// A file in the store's folder of artifacts.
struct ArtifactFile: Hashable, Sendable {
  let path: String
  let digest: Digest
  let stamp: FileStamp

  /// The files of the artifact folder whose names are digests, and the paths of all other entries.
  /// - Parameter isKnown: whether a file is left out; nothing but its name is looked at.
  static func all(
    in layout: StoreLayout, besides isKnown: (Digest) -> Bool = { _ in false }
  ) -> (files: [ArtifactFile], strays: [String]) {
    var files: [ArtifactFile] = []
    var strays: [String] = []
    for shard in FilePath.names(in: layout.artifacts) {
      let folder = "\(layout.artifacts)/\(shard)"
      if let stamp = try? FileStamp(at: folder), !stamp.isFolder {
        strays.append(folder)
        continue
      }
      for name in FilePath.names(in: folder) {
        let path = "\(folder)/\(name)"
        let digest = Digest(hex: name)
        if let digest, isKnown(digest) { continue }
        // A file that is gone by now was freed.
        guard let stamp = try? FileStamp(at: path) else { continue }
        if let digest, layout.artifact(digest) == path, stamp.isRegularFile {
          files.append(ArtifactFile(path: path, digest: digest, stamp: stamp))
        } else {
          strays.append(path)
        }
      }
    }
    return (files, strays)
  }
}

/// An artifact's file whose bytes are not those that its name promises.
struct ArtifactDamage: Hashable, Sendable {
  let digest: Digest
  /// The file's stamp when it was checked; nil for any.
  let stamp: FileStamp?
  /// What is wrong with it: `its bytes are not those that its name promises`.
  let problem: String
}
