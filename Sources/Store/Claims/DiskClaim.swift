import Glibc
internal import PipelineModel
internal import Platform

/// A claim on work: a lock that dies with the process, and an epoch by which the database rejects
/// writes made after the claim was lost.
///
/// Its drafts retain the claim.
final class DiskClaim: WorkClaim {
  let folder: String
  let lostSeconds: Double?
  let spentSeconds: Double
  let loss: RestartReason?

  let store: DiskStore
  private let work: Digest
  private let epoch: Int64
  private let lock: WorkLock

  init(
    _ work: Digest, epoch: Int64, folder: String, lock: WorkLock, after past: ClaimHistory,
    in store: DiskStore
  ) {
    self.work = work
    self.epoch = epoch
    self.folder = folder
    self.lock = lock
    lostSeconds = past.lostSeconds
    spentSeconds = past.spentSeconds
    loss = past.loss
    self.store = store
  }

  var heldByteCount: Int { WorkFolder(path: folder, files: store.files).byteCount }

  func lastEntry() throws(SpoolError) -> JournalEntry? {
    let action = "read the notes of the work in"
    try requireLock(action)
    let entry = try store.withDatabase { (database) throws(SpoolError) in
      try WorkTable.entry(for: work, in: &database)
    }
    guard let entry, entry.epoch == epoch else { throw takenOver(action) }
    return entry.recording
  }

  func record(_ text: String) throws(SpoolError) {
    let action = "note the progress of the work in"
    try requireLock(action)
    let isNoted = try store.withDatabase { (database) throws(SpoolError) in
      try WorkTable.record(
        text, of: work, epoch: epoch, at: store.now, sinceBoot: store.sinceBoot, in: &database)
    }
    if !isNoted { throw takenOver(action) }
  }

  func commit(_ checkpoints: [Checkpoint]) throws(SpoolError) {
    let action = "record the work in"
    try requireLock(action)
    for checkpoint in checkpoints { try store.requireArtifacts(of: checkpoint) }
    let differences = try store.withDatabase { (database) throws(SpoolError) in
      try CheckpointTable.commit(checkpoints, to: &database) {
        (database) throws(SpoolError) in
        guard try WorkTable.holds(work, epoch: epoch, in: &database) else {
          throw takenOver(action)
        }
      }
    }
    store.tell(differences)
  }

  /// Removes the row first: the next opening of the store removes folders without a row. Work that
  /// returns after a power cut without its folder starts over.
  func end() {
    guard lock.isHeld else { return }
    defer { lock.release() }
    do throws(SpoolError) {
      try store.withDeferringDatabase(to: "end work in") { (database) throws(SpoolError) in
        try WorkTable.remove(work, epoch: epoch, in: &database)
      }
    } catch {
      return
    }
    store.artifacts.remove(WorkFolder(path: folder, files: store.files))
  }

  func release() { lock.release() }

  /// Throws if the lock was released.
  func requireLock(_ action: String = "write in") throws(SpoolError) {
    if !lock.isHeld {
      throw SpoolError(action, folder, reason: "the work was ended or let go of already")
    }
  }

  private func takenOver(_ action: String) -> SpoolError {
    SpoolError(
      action, folder,
      reason: "another Spool has taken this work over while this one was stopped",
      advice: "let the other one finish, and run the pipeline again", cause: .takenOver)
  }
}
