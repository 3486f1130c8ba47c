internal import Hashing
internal import PipelineModel

/// Notes as rows, each with its history.
enum NoteTable {
  /// What reading notes is called in errors.
  static let reading = "read notes in"
  /// What recording them is called in errors.
  static let recording = "record a note in"

  /// Notes, by whatever follows `FROM notes`.
  static func notes(
    _ rest: String, _ values: [SQLValue] = [], in database: inout Database
  ) throws(StoreError) -> [Note] {
    let rows = try database.run(
      "SELECT \(columns.joined(separator: ", ")) FROM notes \(rest)", values, to: reading)
    var notes: [Note] = []
    notes.reserveCapacity(rows.count)
    for row in rows {
      guard let note = note(row) else {
        throw StoreError(
          reading, path: database.path,
          reason: "the record of note \(row[0].text ?? "") does not read",
          advice: "spool check says what else is damaged")
      }
      notes.append(note)
    }
    return notes
  }

  /// One note; nil where there is none of this key.
  static func note(_ key: NoteKey, in database: inout Database) throws(StoreError) -> Note? {
    try notes("WHERE key = ?", [.text(key.name)], in: &database).first
  }

  /// Writes a note as it is now, with what its history says of it, inside a transaction.
  /// - Parameter acknowledged: the revision that was acknowledged; nil leaves that as it is.
  static func write(
    _ note: Note, event: String?, owner: String?, to database: inout Database
  ) throws(StoreError) {
    let names = columns + ["owner", "acknowledged"]
    // The key's row keeps what was acknowledged.
    let changed = names.dropLast().filter { $0 != "key" }
      .map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    try database.run(
      """
      INSERT INTO notes (\(names.joined(separator: ", ")))
      VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
      ON CONFLICT (key) DO UPDATE SET \(changed)
      """,
      try values(note) + [SQLValue(owner), .integer(0)], to: recording)
    try database.run(
      "INSERT INTO note_events (note, number, at, state, reason) VALUES (?, ?, ?, ?, ?)",
      [
        .text(note.key.name), SQLValue(note.revision), .real(note.changedAt),
        .text(note.state.rawValue), SQLValue(event),
      ], to: recording)
    try countChange(in: &database)
  }

  /// Counts a change of any note, inside a transaction.
  static func countChange(in database: inout Database) throws(StoreError) {
    try database.run("UPDATE note_version SET number = number + 1", to: recording)
  }

  /// Every name under which a note is acknowledged.
  static func acknowledgementNames(
    of note: Note, in database: inout Database
  ) throws(StoreError) -> [String] {
    let rows = try database.run(
      """
      SELECT DISTINCT coalesce(device_name, device_id) FROM note_files
      WHERE note = ? AND device_id IS NOT NULL
      """, [.text(note.key.name)], to: reading)
    let others = rows.compactMap { $0[0].text }.filter { $0 != note.acknowledgementName }
    return [note.acknowledgementName] + others.sorted()
  }

  /// The process that a note belongs to; nil where it is not under way.
  static func owner(
    of key: NoteKey, in database: inout Database
  ) throws(StoreError) -> ProcessIdentity? {
    try database.run("SELECT owner FROM notes WHERE key = ?", [.text(key.name)], to: reading)
      .first?[0].text.flatMap { ProcessIdentity($0) }
  }

  /// The artifacts that notes need: of those that are not uploaded, and of those whose file is in
  /// nobody's hands but the store's.
  static func held(in database: inout Database) throws(StoreError) -> Set<Digest> {
    let rows = try database.run(
      """
      SELECT digest, sidecar FROM notes WHERE \(isHeld)
      UNION ALL SELECT digest, NULL FROM note_files WHERE \(isTranscriptHeld)
      """, to: reading)
    return Set(rows.flatMap { $0.compactMap { $0.text.flatMap(Digest.init(hex:)) } })
  }

  /// The same, with the notes that need them.
  static func heldArtifacts(
    in database: inout Database
  ) throws(StoreError) -> [(note: Note, artifact: Digest)] {
    var held: [(note: Note, artifact: Digest)] = []
    for note in try notes("WHERE \(isHeld) ORDER BY key", in: &database) {
      let transcripts = try NoteFileTable.files(
        "WHERE note = ? AND digest IS NOT NULL ORDER BY id", [.text(note.key.name)], in: &database)
      held += [note.recording.digest, note.sidecar?.digest].compactMap { $0 }.map { (note, $0) }
      held += transcripts.compactMap(\.digest).map { (note, $0) }
    }
    return held
  }

  /// Whether a note needs an artifact.
  static func holds(_ artifact: Digest, in database: inout Database) throws(StoreError) -> Bool {
    try !database.run(
      """
      SELECT 1 FROM notes WHERE (digest = ?1 OR sidecar = ?1) AND \(isHeld)
      UNION ALL SELECT 1 FROM note_files WHERE digest = ?1 AND \(isTranscriptHeld) LIMIT 1
      """, [.text(artifact.hex)], to: reading
    ).isEmpty
  }

  /// Whether the database is new enough to know notes: one that is only looked at may not be.
  static func isThere(in database: inout Database) throws(StoreError) -> Bool {
    try !database.run("SELECT 1 FROM sqlite_schema WHERE name = 'notes'", to: reading).isEmpty
  }

  private static let isHeld = """
    (state <> 'uploaded' OR NOT EXISTS (SELECT 1 FROM note_files
      WHERE note = notes.key AND role = 'recording' AND place IN ('accepted', 'left')))
    """

  /// Of files: whether they are transcripts whose notes need their artifacts.
  private static let isTranscriptHeld = """
    note_files.digest IS NOT NULL
      AND EXISTS (SELECT 1 FROM notes WHERE key = note_files.note AND \(isHeld))
    """

  /// A key that no note has, for a recording: 12 digits of a digest, or more where those are taken.
  static func freeKey(
    for recording: Digest, pipeline: String, in database: inout Database
  ) throws(StoreError) -> NoteKey {
    let hex = SHA256.digest(of: "\(pipeline)\n\(recording.hex)").hex
    for count in stride(from: 12, to: 64, by: 4) {
      let key = NoteKey(String(hex.prefix(count)))
      if try note(key, in: &database) == nil { return key }
    }
    return NoteKey(hex)
  }

  private static let columns = [
    "key", "pipeline", "inbox", "file_name", "digest", "byte_count", "received_at", "ack_name",
    "device_id", "sidecar", "sidecar_byte_count", "facts", "title", "tags", "state", "reason",
    "attempts", "next_attempt", "changed_at", "state_since", "accepted_at", "uploaded_at", "sound",
    "original", "conflict", "revision", "device_name", "is_cancelled",
  ]

  private static func values(_ note: Note) throws(StoreError) -> [SQLValue] {
    [
      .text(note.key.name), .text(note.pipeline), .text(note.inbox), .text(note.fileName),
      .text(note.recording.digest.hex), SQLValue(note.recording.byteCount),
      .real(note.receivedAt), .text(note.acknowledgementName), SQLValue(note.deviceID),
      SQLValue(note.sidecar?.digest.hex), SQLValue(note.sidecar?.byteCount), SQLValue(note.facts),
      SQLValue(note.title), .text(try StoredJSON.encode(note.tags, to: recording)),
      .text(note.state.rawValue), SQLValue(note.reason), SQLValue(note.attempts),
      SQLValue(note.nextAttempt), .real(note.changedAt), .real(note.stateSince),
      SQLValue(note.acceptedAt), SQLValue(note.uploadedAt), SQLValue(note.sound?.hex),
      SQLValue(note.original?.name), SQLValue(note.conflict?.name), SQLValue(note.revision),
      SQLValue(note.deviceName), SQLValue(note.isCancelled ? 1 : 0),
    ]
  }

  private static func note(_ row: SQLRow) -> Note? {
    guard let key = row[0].text, let pipeline = row[1].text, let inbox = row[2].text,
      let fileName = row[3].text, let digest = row[4].text.flatMap(Digest.init(hex:)),
      let byteCount = row[5].integer, let receivedAt = row[6].real, let name = row[7].text,
      let state = row[14].text.flatMap(NoteState.init(rawValue:)),
      let tags: [String] = try? StoredJSON.decode(row[13].text ?? ""),
      let attempts = row[16].integer, let changedAt = row[18].real, let since = row[19].real,
      let revision = row[25].integer
    else { return nil }
    var note = Note(
      key: NoteKey(key), pipeline: pipeline, inbox: inbox, fileName: fileName,
      recording: Artifact(kind: .sound, digest: digest, byteCount: Int(byteCount)),
      receivedAt: receivedAt, acknowledgementName: name, deviceID: row[8].text, state: state,
      reason: row[15].text)
    if let sidecar = row[9].text.flatMap(Digest.init(hex:)), let count = row[10].integer {
      note.sidecar = Artifact(kind: .file, digest: sidecar, byteCount: Int(count))
    }
    note.deviceName = row[26].text
    note.isCancelled = row[27].integer == 1
    note.facts = row[11].text
    note.title = row[12].text
    note.tags = tags
    note.attempts = Int(attempts)
    note.nextAttempt = row[17].real
    note.changedAt = changedAt
    note.stateSince = since
    note.acceptedAt = row[20].real
    note.uploadedAt = row[21].real
    note.sound = row[22].text.flatMap(Digest.init(hex:))
    note.original = row[23].text.map { NoteKey($0) }
    note.conflict = row[24].text.map { NoteKey($0) }
    note.revision = Int(revision)
    return note
  }
}

extension SQLValue {
  /// The number, or null for nil.
  init(_ number: Double?) { self = number.map(SQLValue.real) ?? .null }
}
