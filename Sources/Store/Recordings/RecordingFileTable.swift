internal import PipelineModel
internal import Platform

/// The files of recordings as rows.
enum RecordingFileTable {
  /// Files, by the text that follows `FROM note_files`.
  static func files(
    _ rest: String, _ values: [SQLValue], in database: inout Database
  ) throws(SpoolError) -> [RecordingFile] {
    try database.run(
      """
      SELECT note_files.id, note_files.note, note_files.inbox, role, path, location, inode,
        note_files.byte_count, modified_ns, changed_ns, place, target,
        note_files.digest
      FROM note_files \(rest)
      """, values, to: RecordingTable.reading
    ).compactMap(file)
  }

  /// Records a file in the inbox, inside a transaction. Another version that was left there is gone.
  static func add(
    _ role: RecordingFile.Role, path: String, stamp: RecordingFileStamp, digest: Digest? = nil,
    inbox: String, place: RecordingFile.Place = .inbox, location: String? = nil,
    deviceID: String? = nil, deviceName: String? = nil, to key: RecordingKey,
    in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      """
      UPDATE note_files SET place = 'gone' WHERE inbox = ? AND location = ? AND place = 'left'
        AND (inode, byte_count, modified_ns, changed_ns) <> (?, ?, ?, ?)
      """, [.text(inbox), .text(path)] + values(stamp), to: RecordingTable.recordAction)
    try database.run(
      """
      INSERT INTO note_files
        (note, inbox, role, path, location, inode, byte_count, modified_ns, changed_ns, place,
          device_id, device_name, digest)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [.text(key.name), .text(inbox), .text(role.rawValue), .text(path), .text(location ?? path)]
        + values(stamp)
        + [.text(place.rawValue), SQLValue(deviceID), SQLValue(deviceName), SQLValue(digest?.hex)],
      to: RecordingTable.recordAction
    )
  }

  /// The row of this path and version if it is still there; nil if none. A recording of another length
  /// than was taken in is none.
  static func known(
    path: String, stamp: RecordingFileStamp, inbox: String, in database: inout Database
  ) throws(SpoolError) -> RecordingFile? {
    try files(
      """
      WHERE inbox = ? AND location = ? AND (inode, byte_count, modified_ns, changed_ns) = (?, ?, ?, ?)
        AND place IN ('inbox', 'quarantine', 'left')
        AND (role <> 'recording'
          OR note_files.byte_count = (SELECT byte_count FROM notes WHERE key = note))
      ORDER BY id DESC LIMIT 1
      """, [.text(inbox), .text(path)] + values(stamp), in: &database
    ).first
  }

  /// Whether the file at an absolute path, or one that it links to, is that of a recording that was
  /// taken in. O(files).
  static func isRecording(
    at path: String, _ stamp: RecordingFileStamp, in database: inout Database
  ) throws(SpoolError) -> Bool {
    try !database.run(
      """
      SELECT 1 FROM note_files
      WHERE role = 'recording' AND place IN ('inbox', 'accepted', 'quarantine', 'left')
        AND (inbox || '/' || location = ?
          OR (inode, byte_count, modified_ns) = (?, ?, ?)) LIMIT 1
      """, [.text(path)] + values(stamp).prefix(3), to: RecordingTable.reading
    ).isEmpty
  }

  /// Gives files that are in quarantine to another recording, inside a transaction.
  static func pass(
    _ files: [RecordingFile], to key: RecordingKey, in database: inout Database
  ) throws(SpoolError) {
    for file in files {
      try database.run(
        "UPDATE note_files SET note = ? WHERE id = ? AND note = ? AND place = 'quarantine'",
        [.text(key.name), .integer(file.id), .text(file.recording.name)],
        to: RecordingTable.recordAction)
    }
  }

  /// The quarantined recordings that are done as another recording of the same name: their file was
  /// written on later, or the other one begins with all their bytes. O(quarantined · log n).
  static func completed(in database: inout Database) throws(SpoolError) -> Set<RecordingKey> {
    let rows = try database.run(
      """
      SELECT DISTINCT cut.note FROM notes
      JOIN note_files cut ON cut.note = notes.key AND cut.role = 'recording' AND cut.place = 'gone'
      JOIN note_files whole ON whole.inbox = cut.inbox AND whole.path = cut.path
        AND whole.role = 'recording' AND whole.inode = cut.inode
        AND whole.byte_count > cut.byte_count
      JOIN notes done ON done.key = whole.note AND done.state = 'uploaded'
      WHERE notes.state = 'quarantined'
      UNION SELECT notes.key FROM notes
      JOIN note_files cut ON cut.note = notes.key AND cut.role = 'recording'
      JOIN note_files whole ON whole.inbox = cut.inbox AND whole.path = cut.path
        AND whole.role = 'recording' AND whole.note <> notes.key
      JOIN notes done ON done.key = whole.note AND done.state = 'uploaded'
      WHERE notes.state = 'quarantined' AND iif(json_valid(done.facts),
        EXISTS (SELECT 1 FROM json_each(done.facts, '$.completes') WHERE value = notes.key), 0)
      """, to: RecordingTable.reading)
    return Set(rows.compactMap { $0[0].text.map { RecordingKey($0) } })
  }

  static func values(_ stamp: RecordingFileStamp) -> [SQLValue] {
    [
      .integer(Int64(bitPattern: stamp.inode)), .integer(stamp.byteCount),
      .integer(stamp.modified), .integer(stamp.changed),
    ]
  }

  private static func file(_ row: SQLRow) -> RecordingFile? {
    guard let id = row[0].integer, let recording = row[1].text, let inbox = row[2].text,
      let role = row[3].text.flatMap(RecordingFile.Role.init(rawValue:)), let path = row[4].text,
      let location = row[5].text, let inode = row[6].integer, let byteCount = row[7].integer,
      let modified = row[8].integer, let changed = row[9].integer,
      let place = row[10].text.flatMap(RecordingFile.Place.init(rawValue:))
    else { return nil }
    return RecordingFile(
      id: id, recording: RecordingKey(recording), inbox: inbox, role: role, path: path,
      location: location,
      stamp: RecordingFileStamp(
        inode: UInt64(bitPattern: inode), byteCount: byteCount, modified: modified,
        changed: changed),
      digest: row[12].text.flatMap(Digest.init(hex:)), place: place, target: row[11].text)
  }
}

/// Acknowledgements to be removed from outboxes, as rows.
enum RetractionTable {
  /// Records that an acknowledgement must be removed, inside a transaction.
  static func add(
    _ name: String, _ pipeline: String, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "INSERT OR IGNORE INTO retracted (pipeline, name) VALUES (?, ?)",
      [.text(pipeline), .text(name)], to: RecordingTable.recordAction)
  }

  /// Records that the name is in use again, or that its acknowledgement is gone.
  static func withdraw(
    _ name: String, _ pipeline: String, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "DELETE FROM retracted WHERE pipeline = ? AND name = ?", [.text(pipeline), .text(name)],
      to: RecordingTable.recordAction)
  }

  static func names(
    pipeline: String, in database: inout Database
  ) throws(SpoolError) -> [String] {
    try database.run(
      "SELECT name FROM retracted WHERE pipeline = ? ORDER BY name", [.text(pipeline)],
      to: RecordingTable.reading
    ).compactMap { $0[0].text }
  }
}
