internal import PipelineModel

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
}
