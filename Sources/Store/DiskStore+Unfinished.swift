internal import PipelineModel
internal import Synchronization

/// What is being written in users' folders is recorded first, so that it is found and removed if
/// its process dies.
extension DiskStore {
  /// Records that this process is about to write at `path`.
  func noteUnfinished(_ path: String) throws(StoreError) {
    try withDatabase { (database) throws(StoreError) in
      _ = try database.run(
        "INSERT OR REPLACE INTO unfinished (path, owner) VALUES (?, ?)",
        [.text(path), .text(ProcessIdentity.current.description)], to: "record a new file in")
    }
  }

  /// Records that there is nothing at `path` any more. A failure here costs a needless look later.
  func forgetUnfinished(_ path: String) {
    try? withDatabase { (database) throws(StoreError) in
      try CustodyTables.forgetUnfinished(path, in: &database)
    }
  }

  /// Removes what dead processes left in users' folders.
  func sweepUnfinished() throws(StoreError) {
    let rows = try withDatabase { (database) throws(StoreError) in
      try database.run("SELECT path, owner FROM unfinished", to: "read")
    }
    for row in rows {
      guard let path = row[0].text, let owner = row[1].text.flatMap({ ProcessIdentity($0) })
      else { continue }
      if AbandonedFiles.remove(path, of: owner, files: files) { forgetUnfinished(path) }
    }
  }

  /// Removes what dead processes left in a user's folder, whichever store they worked with: of another
  /// one's, this database knows nothing. Once for each folder.
  func sweepDrafts(in folder: String) {
    guard sweptFolders.withLock({ $0.insert(folder).inserted }) else { return }
    for name in FilePath.names(in: folder) where name.hasPrefix(Publication.prefix) {
      let rest = String(name.dropFirst(Publication.prefix.count))
      guard let owner = AbandonedFiles.owner(inName: rest) else { continue }
      AbandonedFiles.remove("\(folder)/\(name)", of: owner, files: files)
    }
  }
}
