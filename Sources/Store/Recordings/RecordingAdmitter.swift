internal import PipelineModel
internal import Platform

/// Classifies an arrival inside a transaction, and records it.
struct RecordingAdmitter {
  private let arrival: RecordingArrival
  private let conflicts: ConflictPolicy
  /// In seconds since 1970.
  private let time: Double

  init(_ arrival: RecordingArrival, conflicts: ConflictPolicy, time: Double) {
    self.arrival = arrival
    self.conflicts = conflicts
    self.time = time
  }

  mutating func admit(to database: inout Database) throws(SpoolError) -> RecordingAdmission {
    if let file = try RecordingFileTable.known(
      path: arrival.path, stamp: arrival.stamp, inbox: arrival.inbox, in: &database),
      let recording = try RecordingTable.recording(file.recording, in: &database),
      recording.pipeline == arrival.pipeline,
      // Bytes in the store that are no recording's would be freed.
      file.role != .recording || recording.content.digest == arrival.recording.digest
    {
      return .known(recording)
    }
    var named = try arrival.deviceID.flatMap { (id) throws(SpoolError) in
      try Self.recording(deviceID: id, pipeline: arrival.pipeline, in: &database)
    }
    let holder = try RecordingTable.recordings(
      "WHERE digest = ? AND pipeline = ?",
      [.text(arrival.recording.digest.hex), .text(arrival.pipeline)], in: &database
    ).first
    if let spoiled = named, spoiled.key != holder?.key, spoiled.deviceID == arrival.deviceID,
      spoiled.yieldsIdentity
    {
      let free = try RecordingTable.freeKey(
        for: arrival.recording.digest, pipeline: arrival.pipeline, in: &database)
      let key = holder?.key ?? free
      try RecordingWork(time: time).change(spoiled.key, .yieldIdentity(to: key), in: &database)
      named = nil
    }
    if let holder { return try admit(repeating: holder, named: named, to: &database) }
    return try admitNew(named: named, to: &database)
  }

  /// The recording that owns this device identity, not one that only claims it.
  static func recording(
    deviceID: String, pipeline: String, in database: inout Database
  ) throws(SpoolError) -> Recording? {
    let own = try RecordingTable.recordings(
      "WHERE device_id = ? AND pipeline = ? AND (conflict IS NULL OR ack_name <> key)",
      [
        .text(deviceID), .text(pipeline),
      ], in: &database
    ).first
    if let own { return own }
    return try RecordingTable.recordings(
      """
      WHERE pipeline = ? AND key IN (SELECT note FROM note_files WHERE device_id = ?)
      ORDER BY received_at LIMIT 1
      """, [.text(pipeline), .text(deviceID)], in: &database
    ).first
  }

  private func admit(
    repeating holder: Recording, named: Recording?, to database: inout Database
  ) throws(SpoolError) -> RecordingAdmission {
    // A device may send known bytes under its own name, and expects acknowledgements under that.
    let isAlias = arrival.deviceID != nil && named == nil && arrival.deviceID != holder.deviceID
    try takeOver(holder, in: &database)
    try addFiles(to: holder.key, isAlias: isAlias, in: &database)
    if let named, named.key != holder.key, holder.conflict != named.key,
      holder.sound == nil || holder.sound != named.sound
    {
      return try admit(claiming: named.key, by: holder, to: &database)
    }
    let outcome = try RecordingWork(time: time).change(
      holder.key, .repeatArrival(name: arrival.fileName), in: &database)
    if isAlias { try applyWaitingCommands(in: &database) }
    return .duplicate(of: outcome?.recording ?? holder)
  }

  /// Gives a recording that was never processed to the inbox that it came by now, unless the other is
  /// watched: that folder may be gone, and here it is processed.
  private func takeOver(
    _ holder: Recording, in database: inout Database
  ) throws(SpoolError) {
    guard holder.inbox != arrival.inbox, [.received, .failed].contains(holder.state),
      try InboxTable.watcher(of: holder.inbox, in: &database) == nil
    else { return }
    let values: [SQLValue] = [.text(arrival.inbox), .text(holder.key.name)]
    try database.run(
      "UPDATE notes SET inbox = ? WHERE key = ?", values, to: RecordingTable.recordAction)
    try database.run(
      "UPDATE note_files SET inbox = ? WHERE note = ? AND place = 'inbox'", values,
      to: RecordingTable.recordAction)
  }

  /// The bytes are those of one recording, the identity is another's: they must stay separate.
  private func admit(
    claiming other: RecordingKey, by holder: Recording, to database: inout Database
  ) throws(SpoolError) -> RecordingAdmission {
    let work = RecordingWork(time: time)
    let outcome = try work.change(
      holder.key, .claim(other, name: arrival.fileName), in: &database)
    // Equal sound shows only after decoding.
    if holder.acceptedAt != nil || conflicts == .process {
      try work.change(other, .conflictAppeared(holder.key), in: &database)
    }
    return .conflict(outcome?.recording ?? holder, with: other)
  }

  private func admitNew(
    named: Recording?, to database: inout Database
  ) throws(SpoolError) -> RecordingAdmission {
    let key = try RecordingTable.freeKey(
      for: arrival.recording.digest, pipeline: arrival.pipeline, in: &database)
    // Equal sound shows only after decoding.
    let conflictText = named.map { Recording.words(claiming: $0.key) }
    var recording = Recording(
      key: key, pipeline: arrival.pipeline, inbox: arrival.inbox, fileName: arrival.fileName,
      content: arrival.recording, receivedAt: time,
      acknowledgementName: named == nil
        ? arrival.deviceName ?? arrival.deviceID ?? key.name : key.name,
      deviceID: arrival.deviceID,
      state: arrival.refusal == nil ? .received : .quarantined,
      reason: arrival.refusal ?? conflictText)
    recording.deviceName = arrival.deviceName
    recording.sidecar = arrival.sidecar?.artifact ?? arrival.inheritedSidecar
    recording.facts = arrival.facts
    recording.title = arrival.title
    recording.tags = arrival.tags
    recording.conflict = named?.key
    recording.isClaimOpen = named != nil && arrival.refusal == nil
    try RecordingTable.write(recording, event: recording.reason, owner: nil, to: &database)
    // The history begins with the arrival in any case.
    if recording.state == .quarantined {
      try database.run(
        "INSERT INTO note_events (note, number, at, state) VALUES (?, 0, ?, 'received')",
        [.text(key.name), .real(time)], to: RecordingTable.recordAction)
    }
    try addFiles(to: key, isAlias: false, in: &database)
    try RecordingFileTable.pass(arrival.inherited, to: key, in: &database)
    try RetractionTable.withdraw(recording.acknowledgementName, recording.pipeline, in: &database)
    if let named {
      if conflicts == .process || arrival.refusal != nil {
        // The other recording's owner is notified too.
        try RecordingWork(time: time).change(named.key, .conflictAppeared(key), in: &database)
      }
      return .conflict(recording, with: named.key)
    }
    try applyWaitingCommands(in: &database)
    return .new(try RecordingTable.recording(key, in: &database) ?? recording)
  }

  private func addFiles(
    to key: RecordingKey, isAlias: Bool, in database: inout Database
  ) throws(SpoolError) {
    try RecordingFileTable.add(
      .recording, path: arrival.path, stamp: arrival.stamp, inbox: arrival.inbox,
      deviceID: isAlias ? arrival.deviceID : nil, deviceName: isAlias ? arrival.deviceName : nil,
      to: key, in: &database)
    if isAlias, let name = arrival.deviceName ?? arrival.deviceID {
      try RetractionTable.withdraw(name, arrival.pipeline, in: &database)
    }
    let companions: [(RecordingFile.Role, RecordingArrival.Companion?)] =
      [(.sidecar, arrival.sidecar), (.marker, arrival.marker)]
      + arrival.transcripts.map { (.transcript, $0) }
    for case (let role, let file?) in companions {
      try RecordingFileTable.add(
        role, path: file.path, stamp: file.stamp,
        digest: file.artifact?.digest, inbox: arrival.inbox, to: key, in: &database)
    }
  }

  private func applyWaitingCommands(in database: inout Database) throws(SpoolError) {
    guard let id = arrival.deviceID else { return }
    try RecordingCommandTable.applyWaiting(
      for: id, pipeline: arrival.pipeline, at: time, in: &database)
  }
}
