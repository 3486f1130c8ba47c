import PipelineModel
package import Platform

/// All recordings, their states and acknowledgements.
///
/// Methods may be called from any thread and any number of processes, and are durable on return.
/// Each change and its reason are recorded before they take effect.
package struct RecordingRepository: Sendable {
  private let store: DiskStore
  let database: SharedDatabase
  /// The time that changes are recorded with, in seconds since 1970.
  package var now: Double { store.now }

  init(_ store: DiskStore) {
    self.store = store
    database = store.database
  }

  /// Records an arrival whose bytes are in the store, and classifies it in the same transaction.
  /// Applies commands that waited for it. O(log n).
  package func admit(
    _ arrival: RecordingArrival, conflicts: ConflictPolicy
  ) throws(SpoolError) -> RecordingAdmission {
    let companions = [arrival.sidecar?.artifact] + arrival.transcripts.map(\.artifact)
    for artifact in [arrival.recording] + companions {
      if let artifact { _ = try store.path(of: artifact) }
    }
    return try transaction { (database) throws(SpoolError) in
      var admittance = RecordingAdmitter(arrival, conflicts: conflicts, time: now)
      return try admittance.admit(to: &database)
    }
  }

  /// Changes a recording by the rules of ``Recording/applying(_:at:)``; nil if there is none. With
  /// `begin`, it belongs to this process until it ends or moves on. O(log n).
  package func change(
    _ key: RecordingKey, _ change: RecordingChange
  ) throws(SpoolError) -> RecordingOutcome? {
    return try transaction { (database) throws(SpoolError) in
      try RecordingWork(time: now).change(key, change, in: &database)
    }
  }

  /// Records that a recording was decoded completely. One with the same sound is the same
  /// recording, even if it claims that one's identity with other bytes. O(log n).
  package func accept(
    _ key: RecordingKey, sound: Digest?, conflicts: ConflictPolicy
  ) throws(SpoolError) -> RecordingAcceptance {
    return try transaction { (database) throws(SpoolError) in
      try RecordingWork(time: now).accept(
        key, sound: sound, conflicts: conflicts, in: &database)
    }
  }

  /// Ends the processing of a recording: it is uploaded, or its upload begins if it requires
  /// deliveries that are not confirmed. Nil if there is none. O(its files).
  package func finish(_ key: RecordingKey) throws(SpoolError) -> RecordingOutcome? {
    return try transaction { (database) throws(SpoolError) in
      let isAwaited = try DeliveryQueue.isAwaited(by: key, in: &database)
      let outcome = try RecordingWork(time: now).change(
        key, isAwaited ? .upload : .finish(reason: nil), in: &database)
      guard isAwaited, case .changed? = outcome else { return outcome }
      // What it requires may have failed already.
      try DeliveryQueue.settle(key, at: now, in: &database)
      return try RecordingTable.recording(key, in: &database).map { .changed($0) }
    }
  }

  /// Puts back the recordings of dead processes. One that is being uploaded belongs to none.
  /// O(recordings in progress).
  package func recover(pipeline: String) throws(SpoolError) -> [Recording] {
    return try transaction { (database) throws(SpoolError) in
      let underWay = try RecordingTable.recordings(
        "WHERE pipeline = ? AND state = 'processing'", [.text(pipeline)],
        in: &database)
      var recovered: [Recording] = []
      for recording in underWay {
        if try RecordingTable.owner(of: recording.key, in: &database)?.isAlive == true { continue }
        let outcome = try RecordingWork(time: now).change(
          recording.key, .putBack(reason: "the process that was at it has died"), in: &database)
        if let recording = outcome?.recording { recovered.append(recording) }
      }
      return recovered
    }
  }

  /// Removes a recording with its history; refused while it is processed.
  /// - Returns: the removed recording; nil if there is none.
  package func forget(_ key: RecordingKey) throws(SpoolError) -> RecordingOutcome? {
    return try transaction { (database) throws(SpoolError) in
      guard let recording = try RecordingTable.recording(key, in: &database) else { return nil }
      if recording.state == .processing || recording.state == .uploading {
        return .refused(
          RecordingRefusal(
            reason: "it \(recording.state.words)", advice: "wait until that has ended, or cancel it"
          ))
      }
      try RecordingWork(time: now).dismissFollowers(of: key, in: &database)
      try DeliveryQueue.forget(key, in: &database)
      for name in try RecordingTable.acknowledgementNames(of: recording, in: &database) {
        try RetractionTable.add(name, recording.pipeline, in: &database)
      }
      try database.run("DELETE FROM notes WHERE key = ?", [.text(key.name)], to: "forget in")
      try RecordingTable.countChange(in: &database)
      return .changed(recording)
    }
  }

  /// Applies a command unless its id was applied before, or a later one on the same aspect. O(log
  /// n).
  package func apply(_ command: RecordingCommand) throws(SpoolError) -> RecordingCommandResult {
    return try transaction { (database) throws(SpoolError) in
      try RecordingCommandTable.apply(command, at: now, in: &database)
    }
  }

  /// Records that a decided command's file stays in its inbox and is known from then on. O(log n).
  /// - Parameter path: the file's path in its inbox, escaped.
  package func leaveCommand(
    id: String, pipeline: String, path: String, stamp: RecordingFileStamp, inbox: String
  ) throws(SpoolError) {
    try transaction { (database) throws(SpoolError) in
      try RecordingCommandTable.leave(
        id, pipeline: pipeline, path: path, stamp: stamp, inbox: inbox, in: &database)
    }
  }

  /// Records an invalid command file, unless a command of its id was applied before. O(log n).
  /// - Parameter reason: what is wrong with it.
  /// - Returns: the present or earlier result of the id.
  package func refuseCommand(
    id: String, pipeline: String, reason: String
  ) throws(SpoolError) -> RecordingCommandResult {
    return try transaction { (database) throws(SpoolError) in
      try RecordingCommandTable.refuse(
        id, pipeline: pipeline, reason: reason, at: now, in: &database)
    }
  }

  /// The path of an artifact in the store.
  /// - Throws: if it is not there.
  func path(of artifact: Artifact) throws(SpoolError) -> String { try store.path(of: artifact) }

  /// Changes recordings in one transaction.
  func transaction<Result: Sendable>(
    _ body: @Sendable (inout Database) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: RecordingTable.recordAction, body)
    }
  }
}
