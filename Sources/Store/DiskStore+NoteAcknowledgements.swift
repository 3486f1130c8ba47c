public import PipelineModel

extension DiskStore {
  /// Notes whose acknowledgements are out of date, the oldest change first.
  public func unacknowledgedNotes(
    pipeline: String, limit: Int
  ) throws(StoreError) -> [Note] {
    try readNotes(
      "WHERE pipeline = ? AND acknowledged < revision ORDER BY changed_at LIMIT ?",
      [.text(pipeline), SQLValue(max(0, limit))])
  }

  /// Every name under which a note is acknowledged.
  public func acknowledgementNames(of note: Note) throws(StoreError) -> [String] {
    try withDatabase { (database) throws(StoreError) in
      try NoteTable.acknowledgementNames(of: note, in: &database)
    }
  }

  /// What devices besides its own call a note: names under which the same bytes came.
  public func aliases(pipeline: String) throws(StoreError) -> [NoteKey: [String]] {
    let rows = try withDatabase { (database) throws(StoreError) in
      try database.run(
        """
        SELECT DISTINCT note_files.note, coalesce(note_files.device_name, note_files.device_id)
        FROM note_files JOIN notes ON notes.key = note_files.note
        WHERE note_files.device_id IS NOT NULL AND notes.pipeline = ? ORDER BY 1, 2
        """, [.text(pipeline)], to: NoteTable.reading)
    }
    var aliases: [NoteKey: [String]] = [:]
    for row in rows {
      guard let key = row[0].text, let name = row[1].text else { continue }
      aliases[NoteKey(key), default: []].append(name)
    }
    return aliases
  }

  /// The notes of a pipeline whose identity others claim, and who those are.
  public func claims(pipeline: String) throws(StoreError) -> [NoteKey: [NoteKey]] {
    let rows = try withDatabase { (database) throws(StoreError) in
      try database.run(
        """
        SELECT conflict, key FROM notes WHERE conflict IS NOT NULL AND pipeline = ?
        ORDER BY conflict, received_at, key
        """, [.text(pipeline)], to: NoteTable.reading)
    }
    var claims: [NoteKey: [NoteKey]] = [:]
    for row in rows {
      guard let claimed = row[0].text, let claimant = row[1].text else { continue }
      claims[NoteKey(claimed), default: []].append(NoteKey(claimant))
    }
    return claims
  }

  /// Every note of a pipeline that was acknowledged, by the names of its acknowledgements.
  public func acknowledgedNames(
    pipeline: String
  ) throws(StoreError) -> [(name: String, note: NoteKey)] {
    let rows = try withDatabase { (database) throws(StoreError) in
      try database.run(
        """
        SELECT ack_name, key FROM notes WHERE pipeline = ?1 AND acknowledged > 0
        UNION SELECT coalesce(note_files.device_name, note_files.device_id), key FROM note_files
          JOIN notes ON notes.key = note_files.note
          WHERE pipeline = ?1 AND acknowledged > 0 AND note_files.device_id IS NOT NULL
        """, [.text(pipeline)], to: NoteTable.reading)
    }
    return rows.compactMap { row in
      guard let name = row[0].text, let key = row[1].text else { return nil }
      return (name, NoteKey(key))
    }
  }

  /// Records that these revisions of notes were acknowledged.
  public func markAcknowledged(_ revisions: [NoteKey: Int]) throws(StoreError) {
    if revisions.isEmpty { return }
    try changeNotes { (database) throws(StoreError) in
      for (key, revision) in revisions {
        try database.run(
          "UPDATE notes SET acknowledged = ? WHERE key = ?",
          [SQLValue(revision), .text(key.name)], to: NoteTable.recording)
      }
    }
  }

  /// The names of acknowledgements that are nobody's any more.
  public func retractedNames(pipeline: String) throws(StoreError) -> [String] {
    try withDatabase { (database) throws(StoreError) in
      try RetractionTable.names(pipeline: pipeline, in: &database)
    }
  }

  /// Records that these acknowledgements are gone.
  public func markRetracted(_ names: [String], pipeline: String) throws(StoreError) {
    if names.isEmpty { return }
    try changeNotes { (database) throws(StoreError) in
      for name in names { try RetractionTable.withdraw(name, pipeline, in: &database) }
    }
  }

  /// What came of commands whose answers are not out yet, the oldest first.
  public func unansweredCommands(
    pipeline: String, limit: Int
  ) throws(StoreError) -> [NoteCommandResult] {
    try withDatabase { (database) throws(StoreError) in
      try NoteCommandTable.unanswered(pipeline: pipeline, limit: limit, in: &database)
    }
  }

  /// Records that these commands were answered.
  public func markAnswered(_ ids: [String], pipeline: String) throws(StoreError) {
    if ids.isEmpty { return }
    try changeNotes { (database) throws(StoreError) in
      for id in ids {
        try database.run(
          "UPDATE note_commands SET answered = 1, is_decided_late = 0 WHERE pipeline = ? AND id = ?",
          [.text(pipeline), .text(id)], to: NoteTable.recording)
      }
    }
  }
}
