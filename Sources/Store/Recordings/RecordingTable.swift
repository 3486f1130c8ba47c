internal import PipelineModel
internal import Platform

/// Recordings as rows, with their history.
enum RecordingTable {
  static let reading = "read recordings in"
  static let recordAction = "record a recording in"

  /// Recordings, by the text that follows `FROM notes`.
  static func recordings(
    _ rest: String, _ values: [SQLValue] = [], in database: inout Database
  ) throws(SpoolError) -> [Recording] {
    let rows = try database.run(
      "SELECT \(columns.joined(separator: ", ")) FROM notes \(rest)", values, to: reading)
    var recordings: [Recording] = []
    recordings.reserveCapacity(rows.count)
    for row in rows {
      guard let recording = recording(row) else {
        throw SpoolError(
          reading, database.path,
          reason: "the record of recording \(row[0].text ?? "") does not read",
          advice: "\(command: .check) says what else is damaged")
      }
      recordings.append(recording)
    }
    return recordings
  }

  static func recording(_ key: RecordingKey, in database: inout Database) throws(SpoolError)
    -> Recording?
  {
    try recordings("WHERE key = ?", [.text(key.name)], in: &database).first
  }

  /// Writes a recording and an entry of its history, inside a transaction. An existing row keeps
  /// its acknowledged revision.
  static func write(
    _ recording: Recording, event: String?, owner: String?, to database: inout Database
  ) throws(SpoolError) {
    let names = columns + ["owner", "acknowledged"]
    let changed = names.dropLast().filter { $0 != "key" }
      .map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    try database.run(
      """
      INSERT INTO notes (\(names.joined(separator: ", ")))
      VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
      ON CONFLICT (key) DO UPDATE SET \(changed)
      """,
      try values(recording) + [SQLValue(owner), .integer(0)], to: recordAction)
    try database.run(
      "INSERT INTO note_events (note, number, at, state, reason) VALUES (?, ?, ?, ?, ?)",
      [
        .text(recording.key.name), SQLValue(recording.revision), .real(recording.changedAt),
        .text(recording.state.rawValue), SQLValue(event),
      ], to: recordAction)
    try countChange(in: &database)
  }

  /// Counts a change of any recording, inside a transaction.
  static func countChange(in database: inout Database) throws(SpoolError) {
    try database.run("UPDATE note_version SET number = number + 1", to: recordAction)
  }

  static func acknowledgementNames(
    of recording: Recording, in database: inout Database
  ) throws(SpoolError) -> [String] {
    let rows = try database.run(
      """
      SELECT DISTINCT coalesce(device_name, device_id) FROM note_files
      WHERE note = ? AND device_id IS NOT NULL
      """, [.text(recording.key.name)], to: reading)
    let others = rows.compactMap { $0[0].text }.filter { $0 != recording.acknowledgementName }
    return [recording.acknowledgementName] + others.sorted()
  }

  /// The process that a recording belongs to; nil if it is not in progress.
  static func owner(
    of key: RecordingKey, in database: inout Database
  ) throws(SpoolError) -> ProcessIdentity? {
    try database.run("SELECT owner FROM notes WHERE key = ?", [.text(key.name)], to: reading)
      .first?[0].text.flatMap { ProcessIdentity($0) }
  }

  /// The artifacts of all recordings, with their sidecars and transcripts: nothing frees them before
  /// the recording is forgotten.
  static func originals(in database: inout Database) throws(SpoolError) -> Set<Digest> {
    let rows = try database.run(
      """
      SELECT digest, sidecar FROM notes
      UNION ALL SELECT digest, NULL FROM note_files WHERE \(isCompanion)
      """, to: reading)
    return Set(rows.flatMap { $0.compactMap { $0.text.flatMap(Digest.init(hex:)) } })
  }

  /// The artifacts of all recordings: each with its original, its sidecars and its transcripts.
  static func artifacts(
    in database: inout Database
  ) throws(SpoolError) -> [(recording: Recording, artifact: Digest)] {
    var found: [(recording: Recording, artifact: Digest)] = []
    for recording in try recordings("ORDER BY key", in: &database) {
      let companions = try RecordingFileTable.files(
        "WHERE note = ? AND digest IS NOT NULL ORDER BY id", [.text(recording.key.name)],
        in: &database)
      var digests = [recording.content.digest]
      for digest in [recording.sidecar?.digest] + companions.map(\.digest) {
        if let digest, !digests.contains(digest) { digests.append(digest) }
      }
      found += digests.map { (recording, $0) }
    }
    return found
  }

  /// The recordings whose original a store lacks. Reads no file. O(recordings).
  static func missingOriginals(
    from layout: StoreLayout, in database: inout Database
  ) throws(SpoolError) -> [Recording] {
    let rows = try database.run(
      "SELECT key, digest, byte_count FROM notes ORDER BY key", to: reading)
    var missing: [Recording] = []
    for row in rows {
      guard let key = row[0].text, let digest = row[1].text.flatMap(Digest.init(hex:)),
        let count = row[2].integer,
        !layout.holds(Artifact(kind: .sound, digest: digest, byteCount: Int(count))),
        let recording = try recording(RecordingKey(key), in: &database)
      else { continue }
      missing.append(recording)
    }
    return missing
  }

  /// The file of a recording that is done or quarantined, in the folder of such files or left in the
  /// inbox, if it still lies there; nil if it does not, or if the store must have the recording.
  /// - Parameter isIntact: whether a file of the right length counts.
  static func releasedFile(
    of recording: Recording, in database: inout Database,
    where isIntact: (RecordingFile) -> Bool = { _ in true }
  ) throws(SpoolError) -> RecordingFile? {
    let places =
      switch recording.state {
      case .uploaded: "'accepted', 'left'"
      case .quarantined: "'quarantine', 'left'"
      case .received, .processing, .uploading, .failed: ""
      }
    return try RecordingFileTable.files(
      "WHERE note = ? AND place IN (\(places)) ORDER BY id", [.text(recording.key.name)],
      in: &database
    ).first { $0.isThere(recording.content) && isIntact($0) }
  }

  static func hasOriginal(
    _ artifact: Digest, in database: inout Database
  ) throws(SpoolError) -> Bool {
    try !database.run(
      """
      SELECT 1 FROM notes WHERE digest = ?1 OR sidecar = ?1
      UNION ALL SELECT 1 FROM note_files WHERE digest = ?1 AND \(isCompanion) LIMIT 1
      """, [.text(artifact.hex)], to: reading
    ).isEmpty
  }

  /// Whether the database is new enough to have recordings: one opened for reading may not be.
  static func isThere(in database: inout Database) throws(SpoolError) -> Bool {
    try !database.run("SELECT 1 FROM sqlite_schema WHERE name = 'notes'", to: reading).isEmpty
  }

  /// Of files: whether they are sidecars or transcripts of known recordings.
  private static let isCompanion = """
    note_files.digest IS NOT NULL AND EXISTS (SELECT 1 FROM notes WHERE key = note_files.note)
    """

  /// A free key for a recording: 12 digits of a digest, or more if those are taken.
  static func freeKey(
    for content: Digest, pipeline: String, in database: inout Database
  ) throws(SpoolError) -> RecordingKey {
    let hex = SHA256.digest(of: "\(pipeline)\n\(content.hex)").hex
    for count in stride(from: 12, to: 64, by: 4) {
      let key = RecordingKey(String(hex.prefix(count)))
      if try recording(key, in: &database) == nil { return key }
    }
    return RecordingKey(hex)
  }

  private static let columns = [
    "key", "pipeline", "inbox", "file_name", "digest", "byte_count", "received_at", "ack_name",
    "device_id", "sidecar", "sidecar_byte_count", "facts", "title", "tags", "state", "reason",
    "attempts", "next_attempt", "changed_at", "state_since", "accepted_at", "uploaded_at", "sound",
    "original", "conflict", "revision", "device_name", "is_cancelled", "is_claim_open",
  ]

  private static func values(_ recording: Recording) throws(SpoolError) -> [SQLValue] {
    [
      .text(recording.key.name), .text(recording.pipeline), .text(recording.inbox),
      .text(recording.fileName),
      .text(recording.content.digest.hex), SQLValue(recording.content.byteCount),
      .real(recording.receivedAt), .text(recording.acknowledgementName),
      SQLValue(recording.deviceID),
      SQLValue(recording.sidecar?.digest.hex), SQLValue(recording.sidecar?.byteCount),
      SQLValue(recording.facts),
      SQLValue(recording.title), .text(try StoredJSON.encode(recording.tags, to: recordAction)),
      .text(recording.state.rawValue), SQLValue(recording.reason), SQLValue(recording.attempts),
      SQLValue(recording.nextAttempt), .real(recording.changedAt), .real(recording.stateSince),
      SQLValue(recording.acceptedAt), SQLValue(recording.uploadedAt),
      SQLValue(recording.sound?.hex),
      SQLValue(recording.original?.name), SQLValue(recording.conflict?.name),
      SQLValue(recording.revision),
      SQLValue(recording.deviceName), SQLValue(recording.isCancelled ? 1 : 0),
      SQLValue(recording.isClaimOpen ? 1 : 0),
    ]
  }

  private static func recording(_ row: SQLRow) -> Recording? {
    guard let key = row[0].text, let pipeline = row[1].text, let inbox = row[2].text,
      let fileName = row[3].text, let digest = row[4].text.flatMap(Digest.init(hex:)),
      let byteCount = row[5].integer, let receivedAt = row[6].real, let name = row[7].text,
      let state = row[14].text.flatMap(RecordingState.init(rawValue:)),
      let tags: [String] = try? StoredJSON.decode(row[13].text ?? ""),
      let attempts = row[16].integer, let changedAt = row[18].real, let since = row[19].real,
      let revision = row[25].integer
    else { return nil }
    var recording = Recording(
      key: RecordingKey(key), pipeline: pipeline, inbox: inbox, fileName: fileName,
      content: Artifact(kind: .sound, digest: digest, byteCount: Int(byteCount)),
      receivedAt: receivedAt, acknowledgementName: name, deviceID: row[8].text, state: state,
      reason: row[15].text)
    if let sidecar = row[9].text.flatMap(Digest.init(hex:)), let count = row[10].integer {
      recording.sidecar = Artifact(kind: .file, digest: sidecar, byteCount: Int(count))
    }
    recording.deviceName = row[26].text
    recording.isCancelled = row[27].integer == 1
    recording.isClaimOpen = row[28].integer == 1
    recording.facts = row[11].text
    recording.title = row[12].text
    recording.tags = tags
    recording.attempts = Int(attempts)
    recording.nextAttempt = row[17].real
    recording.changedAt = changedAt
    recording.stateSince = since
    recording.acceptedAt = row[20].real
    recording.uploadedAt = row[21].real
    recording.sound = row[22].text.flatMap(Digest.init(hex:))
    recording.original = row[23].text.map { RecordingKey($0) }
    recording.conflict = row[24].text.map { RecordingKey($0) }
    recording.revision = Int(revision)
    return recording
  }
}

extension SQLValue {
  init(_ number: Double?) { self = number.map(SQLValue.real) ?? .null }

  /// Numbers for `json_each`, which gives a row for each. O(n).
  static func list(_ numbers: [Int64]) -> SQLValue {
    .text(JSONValue.list(numbers.map { .number("\($0)") }).compact)
  }

  /// Texts for `json_each`. O(n).
  static func list(_ texts: some Sequence<String>) -> SQLValue {
    .text(JSONValue.list(texts.map(JSONValue.text)).compact)
  }
}
