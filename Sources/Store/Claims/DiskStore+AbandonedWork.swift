internal import PipelineModel
internal import Platform

/// Unfinished work that goes.
struct AbandonedWork {
  /// Its folders, with the bytes that they alone hold.
  var folders: [(path: String, byteCount: Int)] = []
  /// Its files that artifacts share, which are then the artifacts' alone.
  var shared: [FileStamp] = []
  /// The bytes of work that was given up and goes later, as it was touched within the grace period.
  var recentByteCount = 0

  var byteCount: Int { folders.reduce(0) { $0 + $1.byteCount } }

  /// Whether an artifact's file belongs to work that stays. O(shared files).
  func leaves(_ file: FileStamp) -> Bool {
    file.hasSeveralNames && !shared.contains { $0.isSameFile(as: file) }
  }
}

/// Removal of abandoned work when a store is opened, or by a collection.
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

  /// The idle work folders that no run can need, untouched for so long that they are abandoned, or of
  /// runs that were given up; removed unless `isDryRun`.
  func freeWork(
    _ policy: CollectionPolicy, _ runs: UnfinishedRuns, isDryRun: Bool
  ) throws(SpoolError) -> AbandonedWork {
    let entries = try withDatabase { (database) throws(SpoolError) in
      try WorkTable.entries(in: &database)
    }
    // Recent work may be resumed at any time, whatever the policy.
    let age = max(policy.effectiveAge, policy.grace)
    var freed = AbandonedWork()
    for entry in entries {
      let (idleTime, isGivenUp) = (now - entry.lastTouch, runs.wasGivenUp(at: entry.lastTouch))
      guard idleTime > age || isGivenUp, !runs.mayHaveMade(at: entry.lastTouch) else { continue }
      let folder = WorkFolder(
        path: layout.work(entry.work, generation: entry.generation), files: files)
      guard folder.isIdle else { continue }
      guard idleTime > policy.grace else {
        freed.recentByteCount += folder.ownByteCount
        continue
      }
      freed.folders.append((folder.path, folder.ownByteCount))
      freed.shared += folder.sharedFiles
      if !isDryRun { try forget(entry) }
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
