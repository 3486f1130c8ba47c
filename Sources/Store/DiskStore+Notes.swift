public import Hashing
public import PipelineModel

extension DiskStore: NoteLedger {
  /// The time by which changes are recorded, in seconds since 1970.
  public var noteTime: Double { now }

  /// Records an arrival whose bytes are in the store, and decides in the same step whether it is
  /// new: by the file's own content first, then by the identity that its device gave it.
  public func admit(
    _ arrival: NoteArrival, conflicts: ConflictPolicy
  ) throws(StoreError) -> NoteAdmission {
    let companions = [arrival.sidecar?.artifact] + arrival.transcripts.map(\.artifact)
    for artifact in [arrival.recording] + companions {
      if let artifact { _ = try path(of: artifact) }
    }
    let time = now
    return try changeNotes { (database) throws(StoreError) in
      var admittance = NoteAdmittance(arrival, conflicts: conflicts, time: time)
      return try admittance.admit(to: &database)
    }
  }

  /// Changes a note, by the rules of its states, and whatever waits for it with it; nil where there
  /// is no such note.
  public func change(
    _ key: NoteKey, _ change: NoteChange
  ) throws(StoreError) -> NoteOutcome? {
    let time = now
    return try changeNotes { (database) throws(StoreError) in
      try NoteWork(time: time).change(key, change, in: &database)
    }
  }

  /// Records that a note was decoded to its end. Where another one has this sound, the note is
  /// done with that one, or waits for it.
  public func accept(
    _ key: NoteKey, sound: Digest?, conflicts: ConflictPolicy
  ) throws(StoreError) -> NoteAcceptance {
    let time = now
    return try changeNotes { (database) throws(StoreError) in
      try NoteWork(time: time).accept(
        key, sound: sound, conflicts: conflicts, in: &database)
    }
  }

  /// Puts back the notes of processes that have died.
  public func recoverNotes(pipeline: String) throws(StoreError) -> [Note] {
    let time = now
    return try changeNotes { (database) throws(StoreError) in
      let underWay = try NoteTable.notes(
        "WHERE pipeline = ? AND state IN ('processing', 'uploading')", [.text(pipeline)],
        in: &database)
      var recovered: [Note] = []
      for note in underWay {
        if try NoteTable.owner(of: note.key, in: &database)?.isAlive == true { continue }
        let outcome = try NoteWork(time: time).change(
          note.key, .putBack(reason: "the process that was at it has died"), in: &database)
        if let note = outcome?.note { recovered.append(note) }
      }
      return recovered
    }
  }

  /// Strikes a note with its whole history; refused while it is under way.
  public func forget(_ key: NoteKey) throws(StoreError) -> NoteOutcome? {
    let time = now
    return try changeNotes { (database) throws(StoreError) in
      guard let note = try NoteTable.note(key, in: &database) else { return nil }
      if note.state == .processing || note.state == .uploading {
        return .refused(
          NoteRefusal(
            reason: "it \(note.state.words)", advice: "wait until that has ended, or cancel it"))
      }
      try NoteWork(time: time).dismissFollowers(of: key, in: &database)
      for name in try NoteTable.acknowledgementNames(of: note, in: &database) {
        try RetractionTable.add(name, note.pipeline, in: &database)
      }
      try database.run("DELETE FROM notes WHERE key = ?", [.text(key.name)], to: "forget in")
      try NoteTable.countChange(in: &database)
      return .changed(note)
    }
  }

  /// Applies a command unless one of its id was applied before, or a later one about the same.
  public func apply(_ command: NoteCommand) throws(StoreError) -> NoteCommandResult {
    let time = now
    return try changeNotes { (database) throws(StoreError) in
      try NoteCommandTable.apply(command, at: time, in: &database)
    }
  }

  /// Records that the file of a command that was decided stays where it lies.
  public func leaveCommand(
    id: String, pipeline: String, path: String, stamp: NoteFileStamp, inbox: String
  ) throws(StoreError) {
    try changeNotes { (database) throws(StoreError) in
      try NoteCommandTable.leave(
        id, pipeline: pipeline, path: path, stamp: stamp, inbox: inbox, in: &database)
    }
  }

  /// Records that a file that was to be a command is none, unless a command of its id was applied
  /// before.
  public func refuseCommand(
    id: String, pipeline: String, reason: String
  ) throws(StoreError) -> NoteCommandResult {
    let time = now
    return try changeNotes { (database) throws(StoreError) in
      try NoteCommandTable.refuse(
        id, pipeline: pipeline, reason: reason, at: time, in: &database)
    }
  }

  /// Changes notes in one transaction: before it is committed, the ledger has them as they are then.
  func changeNotes<Result: Sendable>(
    _ body: @Sendable (inout Database) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try withDatabase { (database) throws(StoreError) in
      try database.transaction(to: NoteTable.recording) { (database) throws(StoreError) in
        let result = try body(&database)
        try ledger.append([], in: &database)
        return result
      }
    }
  }
}
