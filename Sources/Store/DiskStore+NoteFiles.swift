public import Hashing
public import PipelineModel

extension DiskStore {
  /// The files that came with a note, the oldest first.
  public func files(of key: NoteKey) throws(StoreError) -> [NoteFile] {
    try withDatabase { (database) throws(StoreError) in
      try NoteFileTable.files("WHERE note = ? ORDER BY id", [.text(key.name)], in: &database)
    }
  }

  /// Whether this version of a file was taken in, or decided as a command, before and still lies where
  /// it is.
  public func isKnown(
    path: String, stamp: NoteFileStamp, inbox: String
  ) throws(StoreError) -> Bool {
    try withDatabase { (database) throws(StoreError) in
      if try NoteFileTable.known(path: path, stamp: stamp, inbox: inbox, in: &database) != nil {
        return true
      }
      return try NoteCommandTable.isLeft(
        path: path, stamp: stamp, inbox: inbox, in: &database)
    }
  }

  /// The files of recordings that arrived under a name, or under it with any ending, the newest
  /// first.
  public func recordings(
    named path: String, inbox: String, receivedSince time: Double
  ) throws(StoreError) -> [NoteFile] {
    // In the order of bytes, the slash follows the point: between them lie all endings.
    try withDatabase { (database) throws(StoreError) in
      try NoteFileTable.files(
        """
        JOIN notes ON notes.key = note_files.note
        WHERE note_files.inbox = ?1 AND role = 'recording' AND received_at >= ?3
          AND (path = ?2 OR path >= ?2 || '.' AND path < ?2 || '/')
        ORDER BY id DESC LIMIT 100
        """, [.text(inbox), .text(path), .real(time)], in: &database)
    }
  }

  /// Records one more file that came with a note.
  public func addFile(
    _ role: NoteFile.Role, path: String, stamp: NoteFileStamp, digest: Digest?, inbox: String,
    to key: NoteKey
  ) throws(StoreError) {
    try changeNotes { (database) throws(StoreError) in
      try NoteFileTable.add(
        role, path: path, stamp: stamp, digest: digest, inbox: inbox, to: key, in: &database)
    }
  }

  /// Records that a device knows a note by another name as well.
  public func addAlias(
    _ id: String, written name: String?, to file: NoteFile
  ) throws(StoreError) -> Note? {
    let time = now
    return try changeNotes { (database) throws(StoreError) in
      guard let note = try NoteTable.note(file.note, in: &database),
        try NoteAdmittance.note(deviceID: id, pipeline: note.pipeline, in: &database) == nil
      else { return nil }
      try database.run(
        "UPDATE note_files SET device_id = ?, device_name = ? WHERE id = ? AND device_id IS NULL",
        [.text(id), SQLValue(name), .integer(file.id)], to: NoteTable.recording)
      let taken = try database.run(
        "SELECT 1 FROM note_files WHERE id = ? AND device_id = ?",
        [.integer(file.id), .text(id)], to: NoteTable.recording)
      if taken.isEmpty { return nil }
      try RetractionTable.withdraw(name ?? id, note.pipeline, in: &database)
      let outcome = try NoteWork(time: time).change(
        note.key, .repeatArrival(name: file.path), in: &database)
      try NoteCommandTable.applyWaiting(
        for: id, pipeline: note.pipeline, at: time, in: &database)
      return outcome?.note
    }
  }

  /// The files of uploaded and quarantined notes that have not been moved yet.
  public func heldFiles(inbox: String, limit: Int) throws(StoreError) -> [HeldFile] {
    try withDatabase { (database) throws(StoreError) in
      let files = try NoteFileTable.files(
        """
        JOIN notes ON notes.key = note_files.note
        WHERE note_files.inbox = ? AND place IN ('inbox', 'quarantine')
          AND (state = 'uploaded' OR state = 'quarantined' AND place = 'inbox')
        ORDER BY id LIMIT ?
        """, [.text(inbox), SQLValue(max(0, limit))], in: &database)
      var held: [HeldFile] = []
      for file in files {
        guard let note = try NoteTable.note(file.note, in: &database) else { continue }
        held.append(HeldFile(file: file, note: note))
      }
      return held
    }
  }

  /// Records where a file is about to be moved, before it is.
  public func plan(_ file: NoteFile, target: String) throws(StoreError) {
    try changeNotes { (database) throws(StoreError) in
      _ = try database.run(
        "UPDATE note_files SET target = ? WHERE id = ?", [.text(target), .integer(file.id)],
        to: NoteTable.recording)
    }
  }

  /// Records where a file has come to lie.
  public func settle(
    _ file: NoteFile, _ place: NoteFile.Place, at location: String, stamp: NoteFileStamp?
  ) throws(StoreError) {
    try changeNotes { (database) throws(StoreError) in
      _ = try database.run(
        """
        UPDATE note_files SET place = ?, location = ?, target = NULL,
          (inode, byte_count, modified_ns, changed_ns) = (?, ?, ?, ?)
        WHERE id = ?
        """,
        [.text(place.rawValue), .text(location)] + NoteFileTable.values(stamp ?? file.stamp)
          + [.integer(file.id)], to: NoteTable.recording)
    }
  }
}
