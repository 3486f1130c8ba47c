internal import Hashing
internal import PipelineModel

/// Changes of notes inside a transaction: each note's own, and what follows from it for the notes
/// that have the same sound.
struct NoteWork {
  /// In seconds since 1970.
  let time: Double

  /// Changes a note; nil where there is none of this key.
  @discardableResult
  func change(
    _ key: NoteKey, _ change: NoteChange, in database: inout Database
  ) throws(StoreError) -> NoteOutcome? {
    guard let before = try NoteTable.note(key, in: &database) else { return nil }
    let change = try completed(change, of: before, in: &database)
    let note: Note
    do throws(NoteRefusal) {
      note = try before.applying(change, at: time)
    } catch {
      return .refused(error)
    }
    if note.acknowledgementName != before.acknowledgementName {
      try rename(before, to: note, in: &database)
    }
    let isUnderWay = note.state == .processing || note.state == .uploading
    // Whoever begins it has it; what else happens to it meanwhile does not change that.
    let owner: String? =
      switch (isUnderWay, change) {
      case (false, _): nil
      case (true, .begin): ProcessIdentity.current.description
      case (true, _): try NoteTable.owner(of: key, in: &database)?.description
      }
    try NoteTable.write(
      note, event: change.historyText ?? note.reason, owner: owner, to: &database)
    if case .attach = change, before.conflict == nil, before.acceptedAt != nil,
      let other = note.conflict
    {
      try self.change(other, .conflictAppeared(key), in: &database)
    }
    if before.deviceID == nil, note.conflict == nil, let id = note.deviceID {
      try NoteCommandTable.applyWaiting(for: id, pipeline: note.pipeline, at: time, in: &database)
    }
    switch note.state {
    case .uploaded: try finishFollowers(of: note, in: &database)
    case .failed where note.nextAttempt == nil, .quarantined:
      try dismissFollowers(of: key, in: &database)
    case .received, .processing, .uploading, .failed: break
    }
    return .changed(note)
  }

  /// A sidecar may claim the identity of another note: whoever had it first keeps it.
  private func completed(
    _ change: NoteChange, of note: Note, in database: inout Database
  ) throws(StoreError) -> NoteChange {
    guard case .attach(var late) = change, note.deviceID == nil, let id = late.deviceID,
      let other = try NoteAdmittance.note(
        deviceID: id, pipeline: note.pipeline, in: &database), other.key != note.key
    else { return change }
    if let sound = note.sound, other.sound == sound {
      // The same sound written otherwise: the identity stays with the one that had it first.
      (late.deviceID, late.deviceName) = (nil, nil)
    } else {
      late.conflict = other.key
    }
    return .attach(late)
  }

  /// The acknowledgement under a name that is not a note's any more goes, unless it is another's.
  private func rename(
    _ before: Note, to note: Note, in database: inout Database
  ) throws(StoreError) {
    if before.acknowledgementName == before.key.name {
      try RetractionTable.add(before.acknowledgementName, before.pipeline, in: &database)
    }
    try RetractionTable.withdraw(note.acknowledgementName, note.pipeline, in: &database)
  }

  /// Records that a note was decoded to its end, and looks for its sound among the others.
  func accept(
    _ key: NoteKey, sound: Digest?, conflicts: ConflictPolicy, in database: inout Database
  ) throws(StoreError) -> NoteAcceptance {
    // Whoever let it in by hand did so after it had been decoded.
    let isFirst = try NoteTable.note(key, in: &database)?.acceptedAt == nil
    guard let outcome = try change(key, .accept(sound: sound), in: &database) else {
      return .refused(NoteRefusal(reason: "there is no such note"))
    }
    guard case .changed(let note) = outcome else {
      if case .refused(let refusal) = outcome { return .refused(refusal) }
      return .refused(NoteRefusal(reason: "it was not changed"))
    }
    if let rival = note.conflict, isFirst, conflicts == .quarantine,
      let conflict = try judge(note, rival, sound, in: &database)
    {
      return conflict
    }
    if let sound { try dropClaims(on: key, with: sound, in: &database) }
    guard let sound, let other = try holder(of: sound, besides: note, in: &database) else {
      return .accepted(note)
    }
    let next: NoteChange =
      other.state == .uploaded
      ? .finish(reason: "its sound is that of \(other.key)") : .waitFor(other.key)
    guard case .changed(var repeated) = try change(key, next, in: &database) else {
      return .accepted(note)
    }
    if repeated.original == nil {
      repeated.original = other.key
      try database.run(
        "UPDATE notes SET original = ? WHERE key = ?", [.text(other.key.name), .text(key.name)],
        to: NoteTable.recording)
    }
    return .duplicate(repeated, of: other.key)
  }

  /// Decides about a note that claims another one's identity with other bytes.
  /// - Returns: nil where it is the same recording after all, written otherwise.
  private func judge(
    _ note: Note, _ rival: NoteKey, _ sound: Digest?, in database: inout Database
  ) throws(StoreError) -> NoteAcceptance? {
    if let sound, try NoteTable.note(rival, in: &database)?.sound == sound {
      try change(note.key, .dropClaim, in: &database)
      return nil
    }
    // The other one's owner hears of it as well.
    try change(rival, .conflictAppeared(note.key), in: &database)
    // What came under an identity of its own before is processed under that.
    if note.ownsIdentity { return nil }
    let outcome = try change(
      note.key, .quarantine(reason: Note.words(claiming: rival)), in: &database)
    return .conflict(outcome?.note ?? note, with: rival)
  }

  /// What has the same sound as a note claims its identity by right.
  private func dropClaims(
    on key: NoteKey, with sound: Digest, in database: inout Database
  ) throws(StoreError) {
    let claimants = try NoteTable.notes(
      "WHERE conflict = ? AND state = 'uploaded' AND sound = ?",
      [.text(key.name), .text(sound.hex)], in: &database)
    for claimant in claimants { try change(claimant.key, .dropClaim, in: &database) }
  }

  /// Lets those that waited for a note go their own way.
  func dismissFollowers(of key: NoteKey, in database: inout Database) throws(StoreError) {
    for follower in try followers(of: key, in: &database) {
      try change(follower, .stopWaiting, in: &database)
    }
  }

  private func finishFollowers(of note: Note, in database: inout Database) throws(StoreError) {
    for follower in try followers(of: note.key, in: &database) {
      try change(follower, .finish(reason: "its sound is that of \(note.key)"), in: &database)
    }
  }

  private func followers(
    of key: NoteKey, in database: inout Database
  ) throws(StoreError) -> [NoteKey] {
    try NoteTable.notes(
      "WHERE original = ? AND state = 'received'", [.text(key.name)], in: &database
    ).map(\.key)
  }

  /// The note that has a sound and is done or will be.
  private func holder(
    of sound: Digest, besides note: Note, in database: inout Database
  ) throws(StoreError) -> Note? {
    try NoteTable.notes(
      """
      WHERE sound = ? AND pipeline = ? AND key <> ? AND original IS NULL
        AND (state IN ('processing', 'uploading', 'uploaded')
          OR (state = 'received' AND accepted_at IS NOT NULL)
          OR (state = 'failed' AND next_attempt IS NOT NULL))
      ORDER BY state <> 'uploaded', received_at LIMIT 1
      """, [.text(sound.hex), .text(note.pipeline), .text(note.key.name)], in: &database
    ).first
  }
}
