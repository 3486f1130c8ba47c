import PipelineModel
package import Platform

extension DiskStore: RecordingRepository {
  /// The time that changes are recorded with, in seconds since 1970.
  package var noteTime: Double { now }

  /// Records an arrival whose bytes are in the store, and decides in the same transaction whether
  /// it is new: by content first, then by device identity.
  package func admit(
    _ arrival: RecordingArrival, conflicts: ConflictPolicy
  ) throws(SpoolError) -> RecordingAdmission {
    let companions = [arrival.sidecar?.artifact] + arrival.transcripts.map(\.artifact)
    for artifact in [arrival.recording] + companions {
      if let artifact { _ = try path(of: artifact) }
    }
    let time = now
    return try changeNotes { (database) throws(SpoolError) in
      var admittance = RecordingAdmitter(arrival, conflicts: conflicts, time: time)
      return try admittance.admit(to: &database)
    }
  }

  /// Changes a recording by the rules of its states, and those that wait for it; nil if there is
  /// none.
  package func change(
    _ key: RecordingKey, _ change: RecordingChange
  ) throws(SpoolError) -> RecordingOutcome? {
    let time = now
    return try changeNotes { (database) throws(SpoolError) in
      try RecordingWork(time: time).change(key, change, in: &database)
    }
  }

  /// Records that a recording was decoded completely. If another one has this sound, the recording
  /// finishes or waits with that one.
  package func accept(
    _ key: RecordingKey, sound: Digest?, conflicts: ConflictPolicy
  ) throws(SpoolError) -> RecordingAcceptance {
    let time = now
    return try changeNotes { (database) throws(SpoolError) in
      try RecordingWork(time: time).accept(
        key, sound: sound, conflicts: conflicts, in: &database)
    }
  }

  /// Puts back the recordings of dead processes.
  package func recoverNotes(pipeline: String) throws(SpoolError) -> [Recording] {
    let time = now
    return try changeNotes { (database) throws(SpoolError) in
      let underWay = try RecordingTable.recordings(
        "WHERE pipeline = ? AND state IN ('processing', 'uploading')", [.text(pipeline)],
        in: &database)
      var recovered: [Recording] = []
      for recording in underWay {
        if try RecordingTable.owner(of: recording.key, in: &database)?.isAlive == true { continue }
        let outcome = try RecordingWork(time: time).change(
          recording.key, .putBack(reason: "the process that was at it has died"), in: &database)
        if let recording = outcome?.recording { recovered.append(recording) }
      }
      return recovered
    }
  }

  /// Removes a recording with its history; refused while it is processed.
  package func forget(_ key: RecordingKey) throws(SpoolError) -> RecordingOutcome? {
    let time = now
    return try changeNotes { (database) throws(SpoolError) in
      guard let recording = try RecordingTable.recording(key, in: &database) else { return nil }
      if recording.state == .processing || recording.state == .uploading {
        return .refused(
          RecordingRefusal(
            reason: "it \(recording.state.words)", advice: "wait until that has ended, or cancel it"
          ))
      }
      try RecordingWork(time: time).dismissFollowers(of: key, in: &database)
      for name in try RecordingTable.acknowledgementNames(of: recording, in: &database) {
        try RetractionTable.add(name, recording.pipeline, in: &database)
      }
      try database.run("DELETE FROM notes WHERE key = ?", [.text(key.name)], to: "forget in")
      try RecordingTable.countChange(in: &database)
      return .changed(recording)
    }
  }

  /// Applies a command unless its id was applied before, or a later one on the same subject.
  package func apply(_ command: RecordingCommand) throws(SpoolError) -> RecordingCommandResult {
    let time = now
    return try changeNotes { (database) throws(SpoolError) in
      try RecordingCommandTable.apply(command, at: time, in: &database)
    }
  }

  /// Records that a decided command's file stays in place.
  package func leaveCommand(
    id: String, pipeline: String, path: String, stamp: RecordingFileStamp, inbox: String
  ) throws(SpoolError) {
    try changeNotes { (database) throws(SpoolError) in
      try RecordingCommandTable.leave(
        id, pipeline: pipeline, path: path, stamp: stamp, inbox: inbox, in: &database)
    }
  }

  /// Records an invalid command file, unless a command of its id was applied before.
  package func refuseCommand(
    id: String, pipeline: String, reason: String
  ) throws(SpoolError) -> RecordingCommandResult {
    let time = now
    return try changeNotes { (database) throws(SpoolError) in
      try RecordingCommandTable.refuse(
        id, pipeline: pipeline, reason: reason, at: time, in: &database)
    }
  }

  /// Changes recordings in one transaction; the change log is appended before the commit.
  func changeNotes<Result: Sendable>(
    _ body: @Sendable (inout Database) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    try withDatabase { (database) throws(SpoolError) in
      try database.transaction(to: RecordingTable.recordAction) { (database) throws(SpoolError) in
        let result = try body(&database)
        try changeLog.append([], in: &database)
        return result
      }
    }
  }
}
