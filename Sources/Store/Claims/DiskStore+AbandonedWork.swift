internal import PipelineModel
internal import Platform

/// Removal of abandoned work when a store is opened.
extension DiskStore {
  /// How long unfinished work is kept, in seconds.
  private static let workLifetime = 30.0 * 86_400

  /// Removes folders without a row, and work untouched for 30 days that no unfinished run can need;
  /// both only if their locks are free.
  func sweepWork() throws(SpoolError) {
    // Listed first: work gets its row before its folder, so a folder without a row now never gets
    // one.
    let names = FilePath.names(in: layout.work)
    let entries = try withDatabase { (database) throws(SpoolError) in
      try WorkTable.entries(in: &database)
    }
    let old = entries.filter { now - $0.lastTouch > Self.workLifetime }
    // If the needs of runs are unknown, nothing is removed.
    if !old.isEmpty, let runs = try? runs.everyRun() {
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

  /// The idle work folders untouched for so many seconds, with their lengths in bytes; removed
  /// unless `isDryRun`.
  /// - Parameter start: work touched since, in seconds since 1970, is kept.
  func freeWork(
    untouchedFor age: Double, before start: Double?, isDryRun: Bool
  ) throws(SpoolError) -> [(String, Int)] {
    let entries = try withDatabase { (database) throws(SpoolError) in
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

  private func forget(_ entry: WorkEntry) throws(SpoolError) {
    let folder = WorkFolder(
      path: layout.work(entry.work, generation: entry.generation), files: files)
    var held: WorkLock?
    switch try? folder.lock() {
    case .taken(let lock): held = lock
    case .gone: break
    case .held, nil: return
    }
    // A newer claim has another epoch and stays.
    let isForgotten = try withDatabase { (database) throws(SpoolError) in
      try WorkTable.remove(entry.work, epoch: entry.epoch, in: &database)
      return try WorkTable.entry(for: entry.work, in: &database) == nil
    }
    if isForgotten && held != nil { artifacts.remove(folder) }
    held?.release()
  }

  /// Gives up unfinished runs of an inbox whose recordings need no more work, as duplicates of
  /// others: a crash, or an earlier Spool, has left them.
  func dropUnneededRuns() throws(SpoolError) {
    do throws(SpoolError) {
      try withDatabase { (database) throws(SpoolError) in
        let runs = try RunTable.unneeded(below: layout.work + "/", in: &database)
        if runs.isEmpty { return }
        try database.transaction(to: RunTable.recordAction) { (database) throws(SpoolError) in
          for recorded in runs {
            var run = recorded.run
            run.state = .dropped
            run.finishedAt = run.finishedAt ?? now
            try RunTable.write(RecordedRun(run, number: recorded.number), to: &database)
          }
        }
      }
    } catch {
      // What frees room must work; the next opening repeats this.
      guard error.isFullDisk else { throw error }
    }
  }
}
