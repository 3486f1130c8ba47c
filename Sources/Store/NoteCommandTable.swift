internal import PipelineModel

/// What devices asked for, as rows: each command once.
enum NoteCommandTable {
  /// Applies a command inside a transaction, unless it was applied before.
  static func apply(
    _ command: NoteCommand, at time: Double, in database: inout Database
  ) throws(StoreError) -> NoteCommandResult {
    // One that could not be read before, and can be now, is a new one.
    if let known = try known(command.id, command.pipeline, in: &database), known.request != nil {
      try answerAgain(command.id, command.pipeline, in: &database)
      return known
    }
    let result = try decide(command, at: time, in: &database)
    try database.run(
      """
      INSERT OR REPLACE INTO note_commands (pipeline, id, device_note, note, subject, request, issued_at,
        taken_at, status, reason, answered) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
      """,
      [
        .text(command.pipeline), .text(command.id), .text(command.note),
        SQLValue(result.note?.name), .text(command.request.subject),
        .text(try StoredJSON.encode(StoredRequest(command.request), to: NoteTable.recording)),
        .real(command.issuedAt), .real(time), .text(result.status.rawValue),
        SQLValue(result.reason),
      ], to: NoteTable.recording)
    return result
  }

  /// Records inside a transaction that what was to be a command is none, unless that is known, or a
  /// command of its id was applied before.
  static func refuse(
    _ id: String, pipeline: String, reason: String, at time: Double, in database: inout Database
  ) throws(StoreError) -> NoteCommandResult {
    if let known = try known(id, pipeline, in: &database),
      known.request != nil || known.reason == reason
    {
      try answerAgain(id, pipeline, in: &database)
      return known
    }
    try database.run(
      """
      INSERT OR REPLACE INTO note_commands (pipeline, id, device_note, subject, request, issued_at,
        taken_at, status, reason, answered) VALUES (?, ?, '', '', '', ?, ?, ?, ?, 0)
      """,
      [
        .text(pipeline), .text(id), .real(time), .real(time),
        .text(NoteCommandResult.Status.refused.rawValue), .text(reason),
      ], to: NoteTable.recording)
    return NoteCommandResult(
      id: id, status: .refused, reason: reason, note: nil, isFresh: true, decidedAt: time)
  }

  /// Whoever sends a command again has not seen the answer.
  private static func answerAgain(
    _ id: String, _ pipeline: String, in database: inout Database
  ) throws(StoreError) {
    try database.run(
      "UPDATE note_commands SET answered = 0 WHERE pipeline = ? AND id = ?",
      [.text(pipeline), .text(id)], to: NoteTable.recording)
  }

  /// Records inside a transaction which file says a command that was decided, where it stays.
  static func leave(
    _ id: String, pipeline: String, path: String, stamp: NoteFileStamp, inbox: String,
    in database: inout Database
  ) throws(StoreError) {
    try database.run(
      "UPDATE note_commands SET left_file = ? WHERE pipeline = ? AND id = ?",
      [.text(file(path, stamp, inbox)), .text(pipeline), .text(id)], to: NoteTable.recording)
  }

  /// Whether this version of a file says a command that was decided.
  static func isLeft(
    path: String, stamp: NoteFileStamp, inbox: String, in database: inout Database
  ) throws(StoreError) -> Bool {
    try !database.run(
      "SELECT 1 FROM note_commands WHERE left_file = ? LIMIT 1",
      [.text(file(path, stamp, inbox))], to: NoteTable.reading
    ).isEmpty
  }

  /// One version of a file in one text: the numbers come first, as no number has a slash.
  private static func file(_ path: String, _ stamp: NoteFileStamp, _ inbox: String) -> String {
    "\(stamp.inode) \(stamp.byteCount) \(stamp.modified) \(stamp.changed) \(inbox)/\(path)"
  }

  /// Applies the commands that waited for a note, in the order in which they were given.
  static func applyWaiting(
    for deviceNote: String, pipeline: String, at time: Double, in database: inout Database
  ) throws(StoreError) {
    let rows = try database.run(
      """
      SELECT id, request, issued_at FROM note_commands
      WHERE pipeline = ? AND device_note = ? AND status = 'waiting' ORDER BY issued_at, id
      """, [.text(pipeline), .text(deviceNote)], to: NoteTable.reading)
    for row in rows {
      guard let id = row[0].text, let issuedAt = row[2].real,
        let stored: StoredRequest = try? StoredJSON.decode(row[1].text ?? ""),
        let request = stored.request
      else { continue }
      let command = NoteCommand(
        id: id, pipeline: pipeline, note: deviceNote, request: request, issuedAt: issuedAt)
      let result = try decide(command, at: time, in: &database)
      try database.run(
        """
        UPDATE note_commands SET note = ?, status = ?, reason = ?, taken_at = ?, answered = 0,
          is_decided_late = 1
        WHERE pipeline = ? AND id = ?
        """,
        [
          SQLValue(result.note?.name), .text(result.status.rawValue), SQLValue(result.reason),
          .real(time), .text(pipeline), .text(id),
        ], to: NoteTable.recording)
    }
  }

  /// Commands whose answers are not out yet, the oldest first.
  static func unanswered(
    pipeline: String, limit: Int, in database: inout Database
  ) throws(StoreError) -> [NoteCommandResult] {
    try results(
      "WHERE pipeline = ? AND answered = 0 ORDER BY taken_at LIMIT ?",
      [.text(pipeline), SQLValue(max(0, limit))], in: &database)
  }

  private static func known(
    _ id: String, _ pipeline: String, in database: inout Database
  ) throws(StoreError) -> NoteCommandResult? {
    try results(
      "WHERE pipeline = ? AND id = ?", [.text(pipeline), .text(id)], in: &database
    ).first
  }

  private static func results(
    _ rest: String, _ values: [SQLValue], in database: inout Database
  ) throws(StoreError) -> [NoteCommandResult] {
    try database.run(
      """
      SELECT id, status, reason, note, taken_at, request, is_decided_late FROM note_commands
      \(rest)
      """, values, to: NoteTable.reading
    ).compactMap { row in
      guard let id = row[0].text,
        let status = row[1].text.flatMap(NoteCommandResult.Status.init(rawValue:))
      else { return nil }
      let stored: StoredRequest? = try? StoredJSON.decode(row[5].text ?? "")
      return NoteCommandResult(
        id: id, status: status, reason: row[2].text, note: row[3].text.map { NoteKey($0) },
        isFresh: false, decidedAt: row[4].real, request: stored?.request,
        isDecidedLate: row[6].integer == 1)
    }
  }

  /// Does what is asked for, where it can be done.
  private static func decide(
    _ command: NoteCommand, at time: Double, in database: inout Database
  ) throws(StoreError) -> NoteCommandResult {
    func result(
      _ status: NoteCommandResult.Status, _ reason: String? = nil, _ note: NoteKey? = nil
    ) -> NoteCommandResult {
      NoteCommandResult(
        id: command.id, status: status, reason: reason, note: note, isFresh: true,
        decidedAt: time, request: command.request)
    }
    guard let note = try note(of: command, in: &database) else {
      return result(.waiting, "its note has not arrived yet")
    }
    let later = try database.run(
      """
      SELECT id FROM note_commands WHERE note = ? AND subject = ? AND status = 'applied'
        AND (issued_at, id) > (?, ?) LIMIT 1
      """,
      [
        .text(note.key.name), .text(command.request.subject), .real(command.issuedAt),
        .text(command.id),
      ], to: NoteTable.reading)
    if let id = later.first?[0].text {
      return result(.superseded, "command \(id) is later and was done before", note.key)
    }
    switch try NoteWork(time: time).change(note.key, command.request.change, in: &database) {
    case .changed: return result(.applied, nil, note.key)
    case .refused(let refusal): return result(.refused, refusal.reason, note.key)
    case nil: return result(.refused, "its note is gone", note.key)
    }
  }

  private static func note(
    of command: NoteCommand, in database: inout Database
  ) throws(StoreError) -> Note? {
    let known = try NoteAdmittance.note(
      deviceID: command.note, pipeline: command.pipeline, in: &database)
    if let known { return known }
    let note = try NoteTable.note(NoteKey(command.note), in: &database)
    return note?.pipeline == command.pipeline ? note : nil
  }
}
