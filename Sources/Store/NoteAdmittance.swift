internal import Hashing
internal import PipelineModel

/// Decides inside a transaction what an arrival is, and records it.
struct NoteAdmittance {
  private let arrival: NoteArrival
  private let conflicts: ConflictPolicy
  /// In seconds since 1970.
  private let time: Double

  init(_ arrival: NoteArrival, conflicts: ConflictPolicy, time: Double) {
    self.arrival = arrival
    self.conflicts = conflicts
    self.time = time
  }

  mutating func admit(to database: inout Database) throws(StoreError) -> NoteAdmission {
    if let file = try NoteFileTable.known(
      path: arrival.path, stamp: arrival.stamp, inbox: arrival.inbox, in: &database),
      let note = try NoteTable.note(file.note, in: &database),
      note.pipeline == arrival.pipeline
    {
      return .known(note)
    }
    var named = try arrival.deviceID.flatMap { (id) throws(StoreError) in
      try Self.note(deviceID: id, pipeline: arrival.pipeline, in: &database)
    }
    let holder = try NoteTable.notes(
      "WHERE digest = ? AND pipeline = ?",
      [.text(arrival.recording.digest.hex), .text(arrival.pipeline)], in: &database
    ).first
    if let spoiled = named, spoiled.key != holder?.key, spoiled.deviceID == arrival.deviceID,
      spoiled.yieldsIdentity
    {
      let free = try NoteTable.freeKey(
        for: arrival.recording.digest, pipeline: arrival.pipeline, in: &database)
      let key = holder?.key ?? free
      try NoteWork(time: time).change(spoiled.key, .yieldIdentity(to: key), in: &database)
      named = nil
    }
    if let holder { return try admit(repeating: holder, named: named, to: &database) }
    return try admitNew(named: named, to: &database)
  }

  /// The note that a device knows by this identity: never one that only claims it.
  static func note(
    deviceID: String, pipeline: String, in database: inout Database
  ) throws(StoreError) -> Note? {
    let own = try NoteTable.notes(
      "WHERE device_id = ? AND pipeline = ? AND (conflict IS NULL OR ack_name <> key)",
      [
        .text(deviceID), .text(pipeline),
      ], in: &database
    ).first
    if let own { return own }
    return try NoteTable.notes(
      """
      WHERE pipeline = ? AND key IN (SELECT note FROM note_files WHERE device_id = ?)
      ORDER BY received_at LIMIT 1
      """, [.text(pipeline), .text(deviceID)], in: &database
    ).first
  }

  private func admit(
    repeating holder: Note, named: Note?, to database: inout Database
  ) throws(StoreError) -> NoteAdmission {
    // A device may know the same sound by a name of its own: it wants to hear of it by that name.
    let isAlias = arrival.deviceID != nil && named == nil && arrival.deviceID != holder.deviceID
    try addFiles(to: holder.key, isAlias: isAlias, in: &database)
    if let named, named.key != holder.key, holder.conflict != named.key,
      holder.sound == nil || holder.sound != named.sound
    {
      return try admit(claiming: named.key, by: holder, to: &database)
    }
    let outcome = try NoteWork(time: time).change(
      holder.key, .repeatArrival(name: arrival.fileName), in: &database)
    if isAlias { try applyWaitingCommands(in: &database) }
    return .duplicate(of: outcome?.note ?? holder)
  }

  /// Its bytes are those of one note, and its identity is that of another: the second must not pass
  /// for the first.
  private func admit(
    claiming other: NoteKey, by holder: Note, to database: inout Database
  ) throws(StoreError) -> NoteAdmission {
    let work = NoteWork(time: time)
    let outcome = try work.change(
      holder.key, .claim(other, name: arrival.fileName), in: &database)
    // Whether it is the same sound is known once it is decoded.
    if holder.acceptedAt != nil || conflicts == .process {
      try work.change(other, .conflictAppeared(holder.key), in: &database)
    }
    return .conflict(outcome?.note ?? holder, with: other)
  }

  private func admitNew(
    named: Note?, to database: inout Database
  ) throws(StoreError) -> NoteAdmission {
    let key = try NoteTable.freeKey(
      for: arrival.recording.digest, pipeline: arrival.pipeline, in: &database)
    // Whether it is the same sound is known once it is decoded.
    let conflictText = named.map { Note.words(claiming: $0.key) }
    var note = Note(
      key: key, pipeline: arrival.pipeline, inbox: arrival.inbox, fileName: arrival.fileName,
      recording: arrival.recording, receivedAt: time,
      acknowledgementName: named == nil
        ? arrival.deviceName ?? arrival.deviceID ?? key.name : key.name,
      deviceID: arrival.deviceID,
      state: arrival.refusal == nil ? .received : .quarantined,
      reason: arrival.refusal ?? conflictText)
    note.deviceName = arrival.deviceName
    note.sidecar = arrival.sidecar?.artifact
    note.facts = arrival.facts
    note.title = arrival.title
    note.tags = arrival.tags
    note.conflict = named?.key
    try NoteTable.write(note, event: note.reason, owner: nil, to: &database)
    // Its history begins with its being received, whatever becomes of it.
    if note.state == .quarantined {
      try database.run(
        "INSERT INTO note_events (note, number, at, state) VALUES (?, 0, ?, 'received')",
        [.text(key.name), .real(time)], to: NoteTable.recording)
    }
    try addFiles(to: key, isAlias: false, in: &database)
    try RetractionTable.withdraw(note.acknowledgementName, note.pipeline, in: &database)
    if let named {
      if conflicts == .process || arrival.refusal != nil {
        // The other one's owner hears of it as well.
        try NoteWork(time: time).change(named.key, .conflictAppeared(key), in: &database)
      }
      return .conflict(note, with: named.key)
    }
    try applyWaitingCommands(in: &database)
    return .new(try NoteTable.note(key, in: &database) ?? note)
  }

  private func addFiles(
    to key: NoteKey, isAlias: Bool, in database: inout Database
  ) throws(StoreError) {
    try NoteFileTable.add(
      .recording, path: arrival.path, stamp: arrival.stamp, inbox: arrival.inbox,
      deviceID: isAlias ? arrival.deviceID : nil, deviceName: isAlias ? arrival.deviceName : nil,
      to: key, in: &database)
    if isAlias, let name = arrival.deviceName ?? arrival.deviceID {
      try RetractionTable.withdraw(name, arrival.pipeline, in: &database)
    }
    let companions: [(NoteFile.Role, NoteArrival.Companion?)] =
      [(.sidecar, arrival.sidecar), (.marker, arrival.marker)]
      + arrival.transcripts.map { (.transcript, $0) }
    for case (let role, let file?) in companions {
      try NoteFileTable.add(
        role, path: file.path, stamp: file.stamp,
        digest: role == .transcript ? file.artifact?.digest : nil, inbox: arrival.inbox, to: key,
        in: &database)
    }
  }

  private func applyWaitingCommands(in database: inout Database) throws(StoreError) {
    guard let id = arrival.deviceID else { return }
    try NoteCommandTable.applyWaiting(
      for: id, pipeline: arrival.pipeline, at: time, in: &database)
  }
}
