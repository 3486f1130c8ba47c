import PipelineModel
package import Platform

extension RecordingRepository {
  /// Recordings whose acknowledgements are out of date, the oldest change first. O(log n + limit).
  package func unacknowledged(
    pipeline: String, limit: Int
  ) throws(SpoolError) -> [Recording] {
    try read(
      "WHERE pipeline = ? AND acknowledged < revision ORDER BY changed_at LIMIT ?",
      [.text(pipeline), SQLValue(max(0, limit))])
  }

  package func acknowledgementNames(of recording: Recording) throws(SpoolError) -> [String] {
    try database.with { (database) throws(SpoolError) in
      try RecordingTable.acknowledgementNames(of: recording, in: &database)
    }
  }

  /// The aliases of a pipeline's recordings: other identities under which devices sent the same
  /// bytes. O(aliases).
  package func aliases(pipeline: String) throws(SpoolError) -> [RecordingKey: [String]] {
    let rows = try database.run(
      """
      SELECT DISTINCT note_files.note, coalesce(note_files.device_name, note_files.device_id)
      FROM note_files JOIN notes ON notes.key = note_files.note
      WHERE note_files.device_id IS NOT NULL AND notes.pipeline = ? ORDER BY 1, 2
      """, [.text(pipeline)], to: RecordingTable.reading)
    var aliases: [RecordingKey: [String]] = [:]
    for row in rows {
      guard let key = row[0].text, let name = row[1].text else { continue }
      aliases[RecordingKey(key), default: []].append(name)
    }
    return aliases
  }

  /// The recordings of a pipeline whose identity is claimed with other bytes, and their claimants,
  /// the oldest first. O(claims).
  package func claims(pipeline: String) throws(SpoolError) -> [RecordingKey: [RecordingKey]] {
    let rows = try database.run(
      """
      SELECT conflict, key FROM notes WHERE conflict IS NOT NULL AND pipeline = ?
      ORDER BY conflict, received_at, key
      """, [.text(pipeline)], to: RecordingTable.reading)
    var claims: [RecordingKey: [RecordingKey]] = [:]
    for row in rows {
      guard let claimed = row[0].text, let claimant = row[1].text else { continue }
      claims[RecordingKey(claimed), default: []].append(RecordingKey(claimant))
    }
    return claims
  }

  /// The acknowledged recordings of a pipeline, by acknowledgement name. O(n).
  package func acknowledgedNames(
    pipeline: String
  ) throws(SpoolError) -> [(name: String, recording: RecordingKey)] {
    let rows = try database.run(
      """
      SELECT ack_name, key FROM notes WHERE pipeline = ?1 AND acknowledged > 0
      UNION SELECT coalesce(note_files.device_name, note_files.device_id), key FROM note_files
        JOIN notes ON notes.key = note_files.note
        WHERE pipeline = ?1 AND acknowledged > 0 AND note_files.device_id IS NOT NULL
      """, [.text(pipeline)], to: RecordingTable.reading)
    return rows.compactMap { row in
      guard let name = row[0].text, let key = row[1].text else { return nil }
      return (name, RecordingKey(key))
    }
  }

  /// Records that these revisions were acknowledged; 0 for a missing acknowledgement.
  package func markAcknowledged(_ revisions: [RecordingKey: Int]) throws(SpoolError) {
    if revisions.isEmpty { return }
    try transaction { (database) throws(SpoolError) in
      for (key, revision) in revisions {
        try database.run(
          "UPDATE notes SET acknowledged = ? WHERE key = ?",
          [SQLValue(revision), .text(key.name)], to: RecordingTable.recordAction)
      }
    }
  }

  /// Has recordings acknowledged again, and those with the same bytes, as where a destination has got more
  /// of them. Their revisions stay. O(recordings).
  package func acknowledgeAgain(_ keys: [RecordingKey]) throws(SpoolError) {
    if keys.isEmpty { return }
    try transaction { (database) throws(SpoolError) in
      try database.run(
        """
        UPDATE notes SET acknowledged = 0
        WHERE key IN (SELECT value FROM json_each(?1))
          OR original IN (SELECT value FROM json_each(?1))
        """, [.list(keys.map(\.name))], to: RecordingTable.recordAction)
      try RecordingTable.countChange(in: &database)
    }
  }

  /// The names of acknowledgements to be removed: of forgotten recordings, and former names of
  /// others.
  package func retractedNames(pipeline: String) throws(SpoolError) -> [String] {
    try database.with { (database) throws(SpoolError) in
      try RetractionTable.names(pipeline: pipeline, in: &database)
    }
  }

  /// Records that these acknowledgements were removed.
  package func markRetracted(_ names: [String], pipeline: String) throws(SpoolError) {
    if names.isEmpty { return }
    try transaction { (database) throws(SpoolError) in
      for name in names { try RetractionTable.withdraw(name, pipeline, in: &database) }
    }
  }

  /// The results of unanswered commands, the oldest first. O(log n + limit).
  package func unansweredCommands(
    pipeline: String, limit: Int
  ) throws(SpoolError) -> [RecordingCommandResult] {
    try database.with { (database) throws(SpoolError) in
      try RecordingCommandTable.unanswered(pipeline: pipeline, limit: limit, in: &database)
    }
  }

  package func markAnswered(_ ids: [String], pipeline: String) throws(SpoolError) {
    if ids.isEmpty { return }
    try transaction { (database) throws(SpoolError) in
      for id in ids {
        try database.run(
          "UPDATE note_commands SET answered = 1, is_decided_late = 0 WHERE pipeline = ? AND id = ?",
          [.text(pipeline), .text(id)], to: RecordingTable.recordAction)
      }
    }
  }
}
