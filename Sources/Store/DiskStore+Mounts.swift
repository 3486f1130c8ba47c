public import PipelineModel

extension DiskStore: MountMemory {
  /// The folder that a disk was mounted on when a folder at or beneath it was last used; nil where none
  /// was, or nothing is remembered.
  public func mountPoint(ofFolder path: String) throws(StoreError) -> String? {
    try withDatabase { (database) throws(StoreError) in
      try database.run(
        "SELECT mount_point FROM mounts WHERE folder = ?", [.text(path)],
        to: "read where folders lay in")
    }.first?[0].text
  }

  /// Remembers that folder; nil where the folder lies on the machine's own disk.
  public func remember(mountPoint: String?, ofFolder path: String) throws(StoreError) {
    let action = "record where a folder lies in"
    let time = now
    try withDatabase { (database) throws(StoreError) in
      guard let mountPoint else {
        _ = try database.run("DELETE FROM mounts WHERE folder = ?", [.text(path)], to: action)
        return
      }
      _ = try database.run(
        "INSERT OR REPLACE INTO mounts (folder, mount_point, seen_at) VALUES (?, ?, ?)",
        [.text(path), .text(mountPoint), .real(time)], to: action)
    }
  }
}
