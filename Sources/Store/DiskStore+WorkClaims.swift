import Glibc
public import Hashing
public import PipelineModel

extension DiskStore: WorkClaims {
  /// Claims a piece of work, with the files and the notes that an earlier process left of it.
  ///
  /// Of all that ask at once, exactly one has it: the one that locks the work's folder. A process
  /// that holds the lock and is alive keeps the work, unless it is stopped and has given no sign of
  /// life for 10 s: then the work is begun anew in another folder, and what the stopped one notes
  /// or commits when it goes on is refused.
  public func claim(_ work: Digest, summary: String) throws(StoreError) -> ClaimAnswer {
    var past = WorkPast()
    while true {
      let entry = try registered(work)
      let folder = WorkFolder(path: layout.work(work, generation: entry.generation), files: files)
      let answer = try doing("claim the work in", folder.path) { () throws(SystemError) in
        try folder.claim()
      }
      switch answer {
      case .gone: continue
      case .held:
        // Read again: whoever holds the lock may have taken it since.
        guard let holder = try self.entry(of: work), holder.generation == entry.generation else {
          return .taken(WorkOwner(processNumber: 0, isStopped: false))
        }
        let lastWrite = folder.lastWrite
        guard holder.isFrozen(lastWrite: lastWrite, now: now, grace: grace) else {
          return .taken(holder.visibleOwner)
        }
        past.takenOver(
          from: holder,
          lost: holder.lostSeconds(lastWrite: lastWrite, now: now, sinceBoot: sinceBoot))
        try withDatabase { (database) throws(StoreError) in
          try WorkTable.beginAnew(holder, at: now, in: &database)
        }
      case .taken(let lock):
        // A claim dies with its process anyway, and so does a folder that nobody knows of.
        let claimed = try withDeferringDatabase(to: "claim work in") {
          (database) throws(StoreError) in
          try WorkTable.claim(
            entry, summary: summary, at: now, sinceBoot: sinceBoot, in: &database)
        }
        guard let claimed else {
          // The work ended, or was begun anew elsewhere, before the folder was locked.
          artifacts.remove(folder)
          lock.release()
          continue
        }
        past.left(
          by: claimed.before,
          lost: claimed.before.lostSeconds(
            lastWrite: folder.lastWrite, now: now, sinceBoot: sinceBoot))
        return .granted(
          DiskClaim(
            work, epoch: claimed.epoch, folder: folder.path, lock: lock, after: past, in: self))
      }
    }
  }

  private func registered(_ work: Digest) throws(StoreError) -> WorkEntry {
    while true {
      if let entry = try entry(of: work) { return entry }
      try withDeferringDatabase(to: "claim work in") { (database) throws(StoreError) in
        try WorkTable.register(work, at: now, in: &database)
      }
    }
  }

  private func entry(of work: Digest) throws(StoreError) -> WorkEntry? {
    try withDatabase { (database) throws(StoreError) in
      try WorkTable.entry(for: work, in: &database)
    }
  }
}
