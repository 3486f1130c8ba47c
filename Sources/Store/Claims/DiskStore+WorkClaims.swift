import Glibc
package import PipelineModel
package import Platform

extension DiskStore {
  /// Claims work, with its files and journal entry.
  ///
  /// Exactly one of several callers gets it: the one that locks the work's folder. A live holder
  /// keeps the work, unless it is stopped and shows no activity for 10 s: then the work starts over
  /// in another folder, and later writes of the stopped process are rejected.
  package func claim(_ work: Digest, summary: String) throws(SpoolError) -> ClaimAnswer {
    var past = ClaimHistory()
    while true {
      let entry = try registered(work)
      let folder = WorkFolder(path: layout.work(work, generation: entry.generation), files: files)
      let answer = try doing("claim the work in", folder.path) { () throws(SystemError) in
        try folder.claim()
      }
      switch answer {
      case .gone: continue
      case .held:
        // Read again: the holder may have claimed it since.
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
        try withDatabase { (database) throws(SpoolError) in
          try WorkTable.beginAnew(holder, at: now, in: &database)
        }
      case .taken(let lock):
        // No flush is needed: a claim dies with its process.
        let claimed = try withDeferringDatabase(to: "claim work in") {
          (database) throws(SpoolError) in
          try WorkTable.claim(
            entry, summary: summary, at: now, sinceBoot: sinceBoot, in: &database)
        }
        guard let claimed else {
          // The work ended or moved to another folder before the lock was taken.
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

  package func hasNotes(of work: Digest) throws(SpoolError) -> Bool {
    try entry(of: work)?.recording != nil
  }

  private func registered(_ work: Digest) throws(SpoolError) -> WorkEntry {
    while true {
      if let entry = try entry(of: work) { return entry }
      try withDeferringDatabase(to: "claim work in") { (database) throws(SpoolError) in
        try WorkTable.register(work, at: now, in: &database)
      }
    }
  }

  private func entry(of work: Digest) throws(SpoolError) -> WorkEntry? {
    try withDatabase { (database) throws(SpoolError) in
      try WorkTable.entry(for: work, in: &database)
    }
  }
}
