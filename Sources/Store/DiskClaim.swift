import Glibc
internal import Hashing
internal import PipelineModel

/// Work that this process has: a lock that dies with the process, and an epoch by which the
/// database refuses whatever the process writes after the work was taken from it.
///
/// Its drafts keep the claim: it is let go of with the last reference to it or to one of them.
final class DiskClaim: WorkClaim {
  let folder: String
  let lostSeconds: Double?
  let spentSeconds: Double
  let setback: WorkSetback?

  let store: DiskStore
  private let work: Digest
  private let epoch: Int64
  private let lock: WorkLock

  init(
    _ work: Digest, epoch: Int64, folder: String, lock: WorkLock, after past: WorkPast,
    in store: DiskStore
  ) {
    self.work = work
    self.epoch = epoch
    self.folder = folder
    self.lock = lock
    lostSeconds = past.lostSeconds
    spentSeconds = past.spentSeconds
    setback = past.setback
    self.store = store
  }

  var heldByteCount: Int { WorkFolder(path: folder, files: store.files).byteCount }

  func lastNote() throws(StoreError) -> JournalNote? {
    let action = "read the notes of the work in"
    try requireLock(action)
    let entry = try store.withDatabase { (database) throws(StoreError) in
      try WorkTable.entry(for: work, in: &database)
    }
    guard let entry, entry.epoch == epoch else { throw takenOver(action) }
    return entry.note
  }

  func note(_ text: String) throws(StoreError) {
    let action = "note the progress of the work in"
    try requireLock(action)
    let isNoted = try store.withDatabase { (database) throws(StoreError) in
      try WorkTable.note(
        text, of: work, epoch: epoch, at: store.now, sinceBoot: store.sinceBoot, in: &database)
    }
    if !isNoted { throw takenOver(action) }
  }

  func commit(_ checkpoints: [Checkpoint]) throws(StoreError) {
    let action = "record the work in"
    try requireLock(action)
    for checkpoint in checkpoints { try store.requireArtifacts(of: checkpoint) }
    let differences = try store.withDatabase { (database) throws(StoreError) in
      try CheckpointTable.commit(checkpoints, to: &database, beside: store.records) {
        (database) throws(StoreError) in
        guard try WorkTable.holds(work, epoch: epoch, in: &database) else {
          throw takenOver(action)
        }
      }
    }
    store.tell(differences)
  }

  /// Forgets the work first: a folder of work that nobody knows of is removed by whoever opens the
  /// store next. Work that a power cut brings back without its folder begins anew.
  func end() {
    guard lock.isHeld else { return }
    defer { lock.release() }
    do throws(StoreError) {
      try store.withDeferringDatabase(to: "end work in") { (database) throws(StoreError) in
        try WorkTable.remove(work, epoch: epoch, in: &database)
      }
    } catch {
      return
    }
    store.artifacts.remove(WorkFolder(path: folder, files: store.files))
  }

  func release() { lock.release() }

  /// Throws if the work was let go of.
  func requireLock(_ action: String = "write in") throws(StoreError) {
    if !lock.isHeld {
      throw StoreError(action, path: folder, reason: "the work was ended or let go of already")
    }
  }

  private func takenOver(_ action: String) -> StoreError {
    StoreError(
      action, path: folder,
      reason: "another Spool has taken this work over while this one was stopped",
      advice: "let the other one finish, and run the pipeline again", isTakenOver: true)
  }
}
