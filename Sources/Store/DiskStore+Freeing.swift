public import PipelineModel

extension DiskStore {
  /// Opens the store at `path` for `body`, which frees room in it, also where its disk has none: what
  /// dead processes left unfinished goes first, and then the ballast, which is made again when the
  /// store has been closed.
  public static func freeing<Result>(
    _ path: String, _ body: (DiskStore) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let layout = StoreLayout(root: FilePath.absolute(path))
    let drafts = DraftFolder(path: layout.drafts, files: .system)
    let ballast = Ballast(layout, drafts)
    try FolderMaker.requireWritable(layout.root)
    if !DatabaseSnapshot.isWritable(layout.root) {
      drafts.sweep()
      ballast.giveUp()
    }
    defer { ballast.restore() }
    return try open(layout, ballast, body)
  }

  /// The store is closed on return, and SQLite has given back the room of its log.
  private static func open<Result>(
    _ layout: StoreLayout, _ ballast: Ballast, _ body: (DiskStore) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let store: DiskStore
    do throws(StoreError) {
      store = try DiskStore(at: layout.root)
    } catch {
      // A quota, or what is kept for the system, shows itself only where something is written.
      guard error.isFullDisk, ballast.giveUp() else { throw error }
      store = try DiskStore(at: layout.root)
    }
    return try body(store)
  }
}
