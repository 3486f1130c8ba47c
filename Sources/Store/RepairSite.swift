internal import PipelineModel

/// A store that one process has alone, to put it right.
struct RepairSite: ~Copyable {
  let layout: StoreLayout
  let files: FileOperations
  let records: RecordFolder
  let slots: BackupSlots
  let rebuild: Rebuild
  private let lock: FolderLock

  /// Takes the store; throws, and says who works there, if it is not free.
  init(_ path: String, files: FileOperations, patience: Int = 1000) throws(StoreError) {
    let layout = StoreLayout(root: FilePath.absolute(path))
    let drafts = DraftFolder(path: layout.drafts, files: files)
    let records = RecordFolder(layout: layout, drafts: drafts, files: files)
    let slots = BackupSlots(folder: layout.backups, files: files, schema: .current)
    try Inspection.requireStore(at: layout)
    try FolderMaker.requireWritable(layout.root)
    let lock = try FolderLock(layout.root)
    guard lock.wait(patience: patience, { $0.tryAlone() }) else {
      throw StoreError(
        "repair", path: layout.root, reason: "\(lock.holdersInWords) works in it",
        advice: "wait until that has ended, or stop it")
    }
    let folders = FolderMaker(files: files)
    for folder in [layout.artifacts, layout.drafts, layout.records] { try folders.make(folder) }
    self.layout = layout
    self.files = files
    self.records = records
    self.slots = slots
    rebuild = Rebuild(
      layout: layout, files: files, schema: .current, records: records, slots: slots,
      now: Clock.now())
    self.lock = lock
  }
}
