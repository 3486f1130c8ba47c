import PipelineModel
package import Platform

extension RecordingRepository {
  /// The files of a recording, the oldest first.
  package func files(of key: RecordingKey) throws(SpoolError) -> [RecordingFile] {
    try database.with { (database) throws(SpoolError) in
      try RecordingFileTable.files("WHERE note = ? ORDER BY id", [.text(key.name)], in: &database)
    }
  }

  /// Whether this version of a file was taken in before and is still in place. O(log n).
  package func isKnown(
    path: String, stamp: RecordingFileStamp, inbox: String
  ) throws(SpoolError) -> Bool {
    try database.with { (database) throws(SpoolError) in
      if try RecordingFileTable.known(path: path, stamp: stamp, inbox: inbox, in: &database) != nil
      {
        return true
      }
      return try RecordingCommandTable.isLeft(
        path: path, stamp: stamp, inbox: inbox, in: &database)
    }
  }

  /// The recordings' files that arrived under a name, with any ending, of recordings received at or
  /// after this time, in seconds since 1970; the newest first. O(log n).
  package func files(
    named path: String, inbox: String, receivedSince time: Double
  ) throws(SpoolError) -> [RecordingFile] {
    // In byte order the slash follows the point: all endings lie between them.
    try database.with { (database) throws(SpoolError) in
      try RecordingFileTable.files(
        """
        JOIN notes ON notes.key = note_files.note
        WHERE note_files.inbox = ?1 AND role = 'recording' AND received_at >= ?3
          AND (path = ?2 OR path >= ?2 || '.' AND path < ?2 || '/')
        ORDER BY id DESC LIMIT 100
        """, [.text(inbox), .text(path), .real(time)], in: &database)
    }
  }

  /// The files of recordings, and their transcripts, that lie at an absolute path where the store has put
  /// or left them, unchanged since; the newest first. O(files).
  package func files(at path: String) throws(SpoolError) -> [RecordingFile] {
    guard let stamp = (try? FileStamp(following: path)).map(RecordingFileStamp.init) else {
      return []
    }
    return try database.with { (database) throws(SpoolError) in
      try RecordingFileTable.files(
        """
        WHERE role IN ('recording', 'transcript') AND place IN ('accepted', 'left')
          AND inbox || '/' || location = ? ORDER BY id DESC
        """, [.text(path)], in: &database)
    }.filter { $0.stamp.isSameFile(as: stamp) }
  }

  /// Records another file of a recording.
  /// - Parameters:
  ///   - digest: of a transcript or a sidecar; nil for other files.
  ///   - location: where it lies; nil where it arrived.
  package func addFile(
    _ role: RecordingFile.Role, path: String, stamp: RecordingFileStamp, digest: Digest?,
    inbox: String, place: RecordingFile.Place = .inbox, location: String? = nil,
    to key: RecordingKey
  ) throws(SpoolError) {
    try transaction { (database) throws(SpoolError) in
      try RecordingFileTable.add(
        role, path: path, stamp: stamp, digest: digest, inbox: inbox, place: place,
        location: location, to: key, in: &database)
    }
  }

  /// Records another device identity of a recording, from a sidecar that followed one of its files:
  /// it is acknowledged under that name too. O(log n).
  /// - Returns: the recording; nil if another recording has the name, or there is no such file.
  package func addAlias(
    _ id: String, written name: String?, to file: RecordingFile
  ) throws(SpoolError) -> Recording? {
    return try transaction { (database) throws(SpoolError) in
      guard let recording = try RecordingTable.recording(file.recording, in: &database),
        try RecordingAdmitter.recording(deviceID: id, pipeline: recording.pipeline, in: &database)
          == nil
      else { return nil }
      try database.run(
        "UPDATE note_files SET device_id = ?, device_name = ? WHERE id = ? AND device_id IS NULL",
        [.text(id), SQLValue(name), .integer(file.id)], to: RecordingTable.recordAction)
      let taken = try database.run(
        "SELECT 1 FROM note_files WHERE id = ? AND device_id = ?",
        [.integer(file.id), .text(id)], to: RecordingTable.recordAction)
      if taken.isEmpty { return nil }
      try RetractionTable.withdraw(name ?? id, recording.pipeline, in: &database)
      let outcome = try RecordingWork(time: now).change(
        recording.key, .repeatArrival(name: file.path), in: &database)
      try RecordingCommandTable.applyWaiting(
        for: id, pipeline: recording.pipeline, at: now, in: &database)
      return outcome?.recording
    }
  }

  /// The files of uploaded and quarantined recordings that have not been moved yet. O(limit).
  package func heldFiles(inbox: String, limit: Int) throws(SpoolError) -> [HeldFile] {
    try database.with { (database) throws(SpoolError) in
      let files = try RecordingFileTable.files(
        """
        JOIN notes ON notes.key = note_files.note
        WHERE note_files.inbox = ? AND place IN ('inbox', 'quarantine')
          AND (state = 'uploaded' OR state = 'quarantined' AND place = 'inbox')
        ORDER BY id LIMIT ?
        """, [.text(inbox), SQLValue(max(0, limit))], in: &database)
      var held: [HeldFile] = []
      for file in files {
        guard let recording = try RecordingTable.recording(file.recording, in: &database) else {
          continue
        }
        held.append(HeldFile(file: file, recording: recording))
      }
      return held
    }
  }

  /// Records a file's target before it is moved.
  package func plan(_ file: RecordingFile, target: String) throws(SpoolError) {
    try transaction { (database) throws(SpoolError) in
      _ = try database.run(
        "UPDATE note_files SET target = ? WHERE id = ?", [.text(target), .integer(file.id)],
        to: RecordingTable.recordAction)
    }
  }

  /// Whether a file of a recording is being moved to a path.
  package func isTarget(_ path: String, inbox: String) throws(SpoolError) -> Bool {
    try database.with { (database) throws(SpoolError) in
      try !RecordingFileTable.files(
        "WHERE inbox = ? AND target = ? LIMIT 1", [.text(inbox), .text(path)], in: &database
      ).isEmpty
    }
  }

  /// Records a file's new place.
  package func settle(
    _ file: RecordingFile, _ place: RecordingFile.Place, at location: String,
    stamp: RecordingFileStamp?
  ) throws(SpoolError) {
    try transaction { (database) throws(SpoolError) in
      _ = try database.run(
        """
        UPDATE note_files SET place = ?, location = ?, target = NULL,
          (inode, byte_count, modified_ns, changed_ns) = (?, ?, ?, ?)
        WHERE id = ?
        """,
        [.text(place.rawValue), .text(location)] + RecordingFileTable.values(stamp ?? file.stamp)
          + [.integer(file.id)], to: RecordingTable.recordAction)
    }
  }
}
