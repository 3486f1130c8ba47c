public import PipelineModel

extension DiskStore: InboxMemory {
  /// The name that the database was given when it was made. One that was made again has another.
  public func storeName() throws(StoreError) -> String {
    try withDatabase { (database) throws(StoreError) in
      try database.run("SELECT store FROM identity", to: "tell the store of")
    }.first?[0].text ?? ""
  }

  /// Whether any recording of an inbox was taken in.
  public func hasNotes(ofInbox path: String) throws(StoreError) -> Bool {
    try withDatabase { (database) throws(StoreError) in
      try database.run(
        "SELECT 1 FROM note_files WHERE inbox = ? LIMIT 1", [.text(path)], to: "read notes in")
    }.isEmpty == false
  }
}
