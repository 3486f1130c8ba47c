internal import PipelineModel
internal import Platform

/// Changes of recordings inside a transaction, with their effects on recordings of the same sound.
struct RecordingWork {
  /// In seconds since 1970.
  let time: Double

  /// Changes a recording; nil if there is none.
  @discardableResult
  func change(
    _ key: RecordingKey, _ change: RecordingChange, in database: inout Database
  ) throws(SpoolError) -> RecordingOutcome? {
    guard let before = try RecordingTable.recording(key, in: &database) else { return nil }
    let change = try completed(change, of: before, in: &database)
    let recording: Recording
    do throws(RecordingRefusal) {
      recording = try before.applying(change, at: time)
    } catch {
      return .refused(error)
    }
    if recording.acknowledgementName != before.acknowledgementName {
      try rename(before, to: recording, in: &database)
    }
    // One that is being uploaded belongs to the queue of deliveries, and to no process.
    let isUnderWay = recording.state == .processing
    // The process that begins owns it; other changes do not affect that.
    let owner: String? =
      switch (isUnderWay, change) {
      case (false, _): nil
      case (true, .begin): ProcessIdentity.current.description
      case (true, _): try RecordingTable.owner(of: key, in: &database)?.description
      }
    try RecordingTable.write(
      recording, event: change.historyText ?? recording.reason, owner: owner, to: &database)
    if case .attach = change, before.conflict == nil, before.acceptedAt != nil,
      let other = recording.conflict
    {
      try self.change(other, .conflictAppeared(key), in: &database)
    }
    if before.deviceID == nil, recording.conflict == nil, let id = recording.deviceID {
      try RecordingCommandTable.applyWaiting(
        for: id, pipeline: recording.pipeline, at: time, in: &database)
    }
    switch recording.state {
    case .uploaded: try finishFollowers(of: recording, in: &database)
    case .failed where recording.nextAttempt == nil, .quarantined:
      try dismissFollowers(of: key, in: &database)
    case .received, .processing, .uploading, .failed: break
    }
    return .changed(recording)
  }

  /// A sidecar may claim another recording's identity: its first owner keeps it.
  private func completed(
    _ change: RecordingChange, of recording: Recording, in database: inout Database
  ) throws(SpoolError) -> RecordingChange {
    guard case .attach(var late) = change, recording.deviceID == nil, let id = late.deviceID,
      let other = try RecordingAdmitter.recording(
        deviceID: id, pipeline: recording.pipeline, in: &database), other.key != recording.key
    else { return change }
    if let sound = recording.sound, other.sound == sound {
      // The same sound in another encoding: the identity stays with its first owner.
      (late.deviceID, late.deviceName) = (nil, nil)
    } else {
      late.conflict = other.key
    }
    return .attach(late)
  }

  /// Retracts the acknowledgement under a former name, unless another recording has that name.
  private func rename(
    _ before: Recording, to recording: Recording, in database: inout Database
  ) throws(SpoolError) {
    if before.acknowledgementName == before.key.name {
      try RetractionTable.add(before.acknowledgementName, before.pipeline, in: &database)
    }
    try RetractionTable.withdraw(recording.acknowledgementName, recording.pipeline, in: &database)
  }

  /// Records that a recording was decoded completely, and searches for its sound.
  func accept(
    _ key: RecordingKey, sound: Digest?, conflicts: ConflictPolicy, in database: inout Database
  ) throws(SpoolError) -> RecordingAcceptance {
    // A release by hand follows decoding.
    let isFirst = try RecordingTable.recording(key, in: &database)?.acceptedAt == nil
    guard let outcome = try change(key, .accept(sound: sound), in: &database) else {
      return .refused(RecordingRefusal(reason: "there is no such recording"))
    }
    guard case .changed(let recording) = outcome else {
      if case .refused(let refusal) = outcome { return .refused(refusal) }
      return .refused(RecordingRefusal(reason: "it was not changed"))
    }
    if let rival = recording.conflict, isFirst, conflicts == .quarantine,
      let conflict = try judge(recording, rival, sound, in: &database)
    {
      return conflict
    }
    if let sound { try dropClaims(on: key, with: sound, in: &database) }
    guard let sound, let other = try holder(of: sound, besides: recording, in: &database) else {
      return .accepted(recording)
    }
    let next: RecordingChange =
      other.state == .uploaded
      ? .finish(reason: "its sound is that of \(other.key)") : .waitFor(other.key)
    guard case .changed(var repeated) = try change(key, next, in: &database) else {
      return .accepted(recording)
    }
    if repeated.original == nil {
      repeated.original = other.key
      try database.run(
        "UPDATE notes SET original = ? WHERE key = ?", [.text(other.key.name), .text(key.name)],
        to: RecordingTable.recordAction)
    }
    return .duplicate(repeated, of: other.key)
  }

  /// Decides about a recording that claims another one's identity with other bytes.
  /// - Returns: nil if it is the same recording in another encoding.
  private func judge(
    _ recording: Recording, _ rival: RecordingKey, _ sound: Digest?, in database: inout Database
  ) throws(SpoolError) -> RecordingAcceptance? {
    if let sound, try RecordingTable.recording(rival, in: &database)?.sound == sound {
      try change(recording.key, .dropClaim, in: &database)
      return nil
    }
    // The other recording's owner is notified too.
    try change(rival, .conflictAppeared(recording.key), in: &database)
    // A recording with an identity of its own is processed under that.
    if recording.ownsIdentity { return nil }
    let outcome = try change(recording.key, .quarantineClaim(of: rival), in: &database)
    return .conflict(outcome?.recording ?? recording, with: rival)
  }

  /// A recording with the same sound is entitled to the identity.
  private func dropClaims(
    on key: RecordingKey, with sound: Digest, in database: inout Database
  ) throws(SpoolError) {
    let claimants = try RecordingTable.recordings(
      "WHERE conflict = ? AND state = 'uploaded' AND sound = ?",
      [.text(key.name), .text(sound.hex)], in: &database)
    for claimant in claimants { try change(claimant.key, .dropClaim, in: &database) }
  }

  /// Releases the recordings that waited for this one.
  func dismissFollowers(of key: RecordingKey, in database: inout Database) throws(SpoolError) {
    for follower in try followers(of: key, in: &database) {
      try change(follower, .stopWaiting, in: &database)
    }
  }

  private func finishFollowers(of recording: Recording, in database: inout Database)
    throws(SpoolError)
  {
    for follower in try followers(of: recording.key, in: &database) {
      try change(follower, .finish(reason: "its sound is that of \(recording.key)"), in: &database)
    }
  }

  private func followers(
    of key: RecordingKey, in database: inout Database
  ) throws(SpoolError) -> [RecordingKey] {
    try RecordingTable.recordings(
      "WHERE original = ? AND state = 'received'", [.text(key.name)], in: &database
    ).map(\.key)
  }

  /// The recording of a sound that is done or will be.
  private func holder(
    of sound: Digest, besides recording: Recording, in database: inout Database
  ) throws(SpoolError) -> Recording? {
    try RecordingTable.recordings(
      """
      WHERE sound = ? AND pipeline = ? AND key <> ? AND original IS NULL
        AND (state IN ('processing', 'uploading', 'uploaded')
          OR (state = 'received' AND accepted_at IS NOT NULL)
          OR (state = 'failed' AND next_attempt IS NOT NULL))
      ORDER BY state <> 'uploaded', received_at LIMIT 1
      """, [.text(sound.hex), .text(recording.pipeline), .text(recording.key.name)], in: &database
    ).first
  }
}
