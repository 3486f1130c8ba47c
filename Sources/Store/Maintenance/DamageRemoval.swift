import Glibc
internal import PipelineModel
internal import Platform

/// Removes a damaged artifact, with everything that may derive from its bytes.
struct DamageRemoval {
  let layout: StoreLayout
  let files: FileOperations

  /// Removes the rows durably, then sets the file aside: after an interruption the damage is found
  /// again.
  /// - Returns: what was removed, and the file's new path; nil if it was gone or replaced.
  func remove(
    _ damage: ArtifactDamage, from database: inout Database
  ) throws(SpoolError) -> (struck: CheckpointTable.RemovalOutcome, keptAside: String?) {
    let struck = try strike(damage.digest, from: &database)
    return (struck, try setAside(damage))
  }

  private func strike(
    _ artifact: Digest, from database: inout Database
  ) throws(SpoolError) -> CheckpointTable.RemovalOutcome {
    try database.transaction(to: "strike an artifact from") { (database) throws(SpoolError) in
      try CheckpointTable.strikeDamaged(artifact, from: &database)
    }
  }

  private func setAside(_ damage: ArtifactDamage) throws(SpoolError) -> String? {
    let path = layout.artifact(damage.digest)
    let target = "\(layout.damaged)/\(damage.digest.hex)"
    // Another process may have restored a good one meanwhile.
    guard let stamp = try? FileStamp(at: path), damage.stamp.map({ $0 == stamp }) ?? true else {
      return nil
    }
    try files.makeFolders(layout.damaged)
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
