internal import Hashing
internal import PipelineModel

/// Work that nobody will go on with is removed when a store is opened.
extension DiskStore {
  /// How long work is kept for a process that goes on with it, in seconds.
  private static let workLifetime = 30.0 * 86_400

  /// Removes folders that belong to no work, and work that nobody has touched for 30 days and no
  /// unfinished run can need; both only where nobody holds the lock.
  func sweepWork() throws(StoreError) {
    // Listed first: work is known before it has a folder, so a folder that belongs to nothing
    // known afterwards never will again.
    let names = FilePath.names(in: layout.work)
    let entries = try withDatabase { (database) throws(StoreError) in
      try WorkTable.entries(in: &database)
    }
    let old = entries.filter { now - $0.lastTouch > Self.workLifetime }
    // Where it cannot be told what runs need, nothing goes.
    if !old.isEmpty, let runs = try? everyRun() {
      let start = UnfinishedRuns(runs).firstStart ?? .infinity
      for entry in old where entry.lastTouch < start { try forget(entry) }
    }
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
  /// - Parameter start: work that was touched since, in seconds since 1970, is left alone.
  func freeWork(
    untouchedFor age: Double, before start: Double?, isDryRun: Bool
  ) throws(StoreError) -> [(String, Int)] {
    let entries = try withDatabase { (database) throws(StoreError) in
      try WorkTable.entries(in: &database)
    }
    var freed: [(String, Int)] = []
    for entry in entries where now - entry.lastTouch > age {
      if let start, entry.lastTouch >= start { continue }
      let folder = WorkFolder(
        path: layout.work(entry.work, generation: entry.generation), files: files)
      let byteCount = folder.byteCount
      guard folder.isIdle else { continue }
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
