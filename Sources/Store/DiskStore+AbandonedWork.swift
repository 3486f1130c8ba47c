internal import Hashing
internal import PipelineModel

/// Work that nobody will go on with is removed when a store is opened.
extension DiskStore {
  /// How long work is kept for a process that goes on with it, in seconds.
  private static let workLifetime = 30.0 * 86_400

  /// Removes folders that belong to no work, and work that nobody has touched for 30 days; both
  /// only where nobody holds the lock.
  func sweepWork() throws(StoreError) {
    // Listed first: work is known before it has a folder, so a folder that belongs to nothing
    // known afterwards never will again.
    let names = FilePath.names(in: layout.work)
    let entries = try withDatabase { (database) throws(StoreError) in
      try WorkTable.entries(in: &database)
    }
    for entry in entries where now - entry.lastTouch > Self.workLifetime { try forget(entry) }
    let known = Set(
      entries.map { StoreLayout.workName($0.work.hex, generation: $0.generation) })
    for name in names where StoreLayout.isWorkName(name) && !known.contains(name) {
      let folder = WorkFolder(path: "\(layout.work)/\(name)", files: files)
      guard case .taken(let lock)? = try? folder.lock() else { continue }
      artifacts.remove(folder)
      lock.release()
    }
  }

  /// The folders of work that nobody is at and nobody has touched for so long, in seconds, with their
  /// lengths in bytes; forgotten and removed unless `isDryRun`.
  func freeWork(untouchedFor age: Double, isDryRun: Bool) throws(StoreError) -> [(String, Int)] {
    let entries = try withDatabase { (database) throws(StoreError) in
      try WorkTable.entries(in: &database)
    }
    var freed: [(String, Int)] = []
    for entry in entries where now - entry.lastTouch > age {
      let folder = WorkFolder(
        path: layout.work(entry.work, generation: entry.generation), files: files)
      let byteCount = folder.byteCount
      guard case .taken(let lock)? = try? folder.lock() else { continue }
      lock.release()
      if !isDryRun { try forget(entry) }
      freed.append((folder.path, byteCount))
    }
    return freed
  }

  private func forget(_ entry: WorkEntry) throws(StoreError) {
    let folder = WorkFolder(
      path: layout.work(entry.work, generation: entry.generation), files: files)
    var held: WorkLock?
    switch try? folder.lock() {
    case .taken(let lock): held = lock
    case .gone: break
    case .held, nil: return
    }
    // Whoever claimed it meanwhile has another epoch, and keeps it.
    let isForgotten = try withDatabase { (database) throws(StoreError) in
      try WorkTable.remove(entry.work, epoch: entry.epoch, in: &database)
      return try WorkTable.entry(for: entry.work, in: &database) == nil
    }
    if isForgotten && held != nil { artifacts.remove(folder) }
    held?.release()
  }
}
