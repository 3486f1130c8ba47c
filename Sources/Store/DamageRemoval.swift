import Glibc
internal import Hashing
internal import PipelineModel

/// Takes a damaged artifact out of use, with everything that may have been computed from its bytes.
struct DamageRemoval {
  let layout: StoreLayout
  let records: RecordFolder
  let files: FileOperations

  /// Strikes the artifact, durably, and then sets its file aside: cut off in between, the damage is
  /// found again.
  /// - Returns: what was struck, and where the file lies now; nil if it has gone, or is another one
  ///   by now.
  func remove(
    _ damage: ArtifactDamage, from database: inout Database
  ) throws(StoreError) -> (struck: CheckpointTable.Struck, keptAside: String?) {
    let struck = try strike(damage.digest, from: &database)
    return (struck, try setAside(damage))
  }

  /// Records go before the rows count: a checkpoint that is not to be trusted must not come back
  /// from its record.
  private func strike(
    _ artifact: Digest, from database: inout Database
  ) throws(StoreError) -> CheckpointTable.Struck {
    try database.transaction(to: "strike an artifact from") { (database) throws(StoreError) in
      let struck = try CheckpointTable.strikeDamaged(artifact, from: &database)
      for key in struck.removed + struck.suspects { try records.remove(records.path(of: key)) }
      for key in struck.kept {
        if let rows = try CheckpointTable.checkpoint(for: key, in: &database) {
          try records.write(rows)
        }
      }
      return struck
    }
  }

  private func setAside(_ damage: ArtifactDamage) throws(StoreError) -> String? {
    let path = layout.artifact(damage.digest)
    let target = "\(layout.damaged)/\(damage.digest.hex)"
    // Another process may have put a good one there meanwhile.
    guard let stamp = try? FileStamp(at: path), damage.stamp.map({ $0 == stamp }) ?? true else {
      return nil
    }
    try FolderMaker(files: files).make(layout.damaged)
    return try doing("set aside", path) { () throws(SystemError) in
      do throws(SystemError) {
        try files.rename(path, to: target)
      } catch {
        if error.code == ENOENT { return nil }
        throw error
      }
      try files.flushFolder(layout.damaged)
      try files.flushFolder(layout.shard(of: damage.digest))
      return target
    }
  }
}
