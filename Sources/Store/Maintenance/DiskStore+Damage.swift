internal import PipelineModel
package import Platform

extension DiskStore {
  /// How long a verification is valid for reading, in seconds: media lose bits without a change of
  /// file times.
  private static let verificationLifetime = 30.0 * 86_400

  /// Delivers the store's messages (a damaged artifact that was set aside, say), one line each: the
  /// kept ones at once, later ones on any thread.
  package func listen(_ listener: @escaping @Sendable (String) -> Void) { news.listen(listener) }

  /// The path of a sound artifact; nil if it is missing. Sets aside a damaged one, with all that
  /// may derive from it.
  /// - Parameter isRead: whether it is about to be read, not only named.
  func soundPath(of artifact: Artifact, isRead: Bool = false) throws(SpoolError) -> String? {
    let age = isRead ? Self.verificationLifetime : nil
    switch try artifacts.look(at: artifact, verifiedWithin: age) {
    case .sound(let path): return path
    case .missing: return nil
    case .damaged(let damage):
      try setAside(damage, kind: artifact.kind)
      return nil
    }
  }

  /// The recordings whose original is not in the store any more, or was set aside as damaged, and lies
  /// nowhere else. Nothing is lost of one that is whole as another recording. Reads no file.
  /// O(recordings).
  package func lostOriginals() throws(SpoolError) -> [Recording] {
    try missingOriginals(thatLieInInbox: false)
  }

  /// The recordings whose original is not in the store any more, and lies in a folder of its inbox. Reads
  /// no file. O(recordings).
  package func originalsOutside() throws(SpoolError) -> [Recording] {
    try missingOriginals(thatLieInInbox: true)
  }

  /// What a check says of records that were lost with the database and its change log, until a repair has
  /// accepted that; nil if none were. O(runs + files) while it is not accepted.
  package func lostRecords() throws(SpoolError) -> InspectionFinding? {
    let lost = LostRecords(layout: layout, files: files)
    return try withDatabase { (database) throws(SpoolError) in try lost.finding(in: &database) }
  }

  private func missingOriginals(thatLieInInbox: Bool) throws(SpoolError) -> [Recording] {
    try withDatabase { (database) throws(SpoolError) in
      var found: [Recording] = []
      let completed = try RecordingFileTable.completed(in: &database)
      for recording in try RecordingTable.missingOriginals(from: layout, in: &database)
      where !completed.contains(recording.key) {
        let released = try RecordingTable.releasedFile(of: recording, in: &database)
        if (released != nil) == thatLieInInbox { found.append(recording) }
      }
      return found
    }
  }

  /// Whether the store's copy of a recording is as it arrived. Reads it only if its file is not the
  /// version that was verified last, and remembers damage.
  package func hasIntactOriginal(of recording: Recording) -> Bool {
    if KnownDamage(of: layout)[recording.content.digest] != nil { return false }
    switch try? artifacts.look(at: recording.content) {
    case .sound: return true
    case .damaged(let damage): remember(damage)
    case .missing, nil: break
    }
    return false
  }

  private func setAside(_ damage: ArtifactDamage, kind: ArtifactKind) throws(SpoolError) {
    let what = "the \(kind.rawValue) artifact \(damage.digest.short) in the store is damaged"
    guard isWritable else {
      news.tell("\(what) (\(damage.problem)): it is not used")
      return
    }
    let removal = DamageRemoval(layout: layout, files: files)
    let (struck, aside, isOriginal) = try withDatabase {
      (database) throws(SpoolError) -> (CheckpointTable.RemovalOutcome, String?, Bool) in
      let isOriginal = try RecordingTable.hasOriginal(damage.digest, in: &database)
      let (struck, aside) = try removal.remove(damage, from: &database)
      return (struck, aside, isOriginal)
    }
    guard let aside else { return }
    let count = struck.suspects.count
    let rest =
      count == 0
      ? "" : ", and so \(count == 1 ? "is the stage that" : "are the \(count) stages that") used it"
    let prospect =
      isOriginal ? "; " + InspectionFinding.lostOriginal : " and made again where it is needed"
    news.tell("\(what) (\(damage.problem)): it is kept aside as \(aside)\(prospect)\(rest)")
  }

  /// Reports outputs that differ from their removed originals.
  func tell(_ differences: [ReproducedOutput]) {
    for output in differences { news.tell(output.line) }
  }
}
