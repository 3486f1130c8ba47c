import PipelineModel
import Platform

/// Commands from devices as rows, each once.
enum RecordingCommandTable {
  /// Applies a command inside a transaction, unless it was applied before.
  static func apply(
    _ command: RecordingCommand, at time: Double, in database: inout Database
  ) throws(SpoolError) -> RecordingCommandResult {
    // A formerly unreadable command is new.
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
        .text(command.pipeline), .text(command.id), .text(command.recording),
        SQLValue(result.recording?.name), .text(command.request.subject),
        .text(
          try StoredJSON.encode(PendingCommand(command.request), to: RecordingTable.recordAction)),
        .real(command.issuedAt), .real(time), .text(result.status.rawValue),
        SQLValue(result.reason),
      ], to: RecordingTable.recordAction)
    return result
  }

  /// Records an invalid command file inside a transaction, unless it is known, or a command of its
  /// id was applied.
  static func refuse(
    _ id: String, pipeline: String, reason: String, at time: Double, in database: inout Database
  ) throws(SpoolError) -> RecordingCommandResult {
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
        .text(RecordingCommandResult.Status.refused.rawValue), .text(reason),
      ], to: RecordingTable.recordAction)
    return RecordingCommandResult(
      id: id, status: .refused, reason: reason, recording: nil, isFresh: true, decidedAt: time)
  }

  /// A device that repeats a command has not seen the answer.
  private static func answerAgain(
    _ id: String, _ pipeline: String, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "UPDATE note_commands SET answered = 0 WHERE pipeline = ? AND id = ?",
      [.text(pipeline), .text(id)], to: RecordingTable.recordAction)
  }

  /// Records inside a transaction the file of a decided command that stays in place.
  static func leave(
    _ id: String, pipeline: String, path: String, stamp: RecordingFileStamp, inbox: String,
    in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "UPDATE note_commands SET left_file = ? WHERE pipeline = ? AND id = ?",
      [.text(file(path, stamp, inbox)), .text(pipeline), .text(id)], to: RecordingTable.recordAction
    )
  }

  /// Whether this version of a file is a decided command.
  static func isLeft(
    path: String, stamp: RecordingFileStamp, inbox: String, in database: inout Database
  ) throws(SpoolError) -> Bool {
    try !database.run(
      "SELECT 1 FROM note_commands WHERE left_file = ? LIMIT 1",
      [.text(file(path, stamp, inbox))], to: RecordingTable.reading
    ).isEmpty
  }

  /// A file version as one text: numbers first, as they contain no slash.
  private static func file(_ path: String, _ stamp: RecordingFileStamp, _ inbox: String) -> String {
    "\(stamp.inode) \(stamp.byteCount) \(stamp.modified) \(stamp.changed) \(inbox)/\(path)"
  }

  /// Applies the commands that waited for a recording, in order of issue.
  static func applyWaiting(
    for deviceNote: String, pipeline: String, at time: Double, in database: inout Database
  ) throws(SpoolError) {
    let rows = try database.run(
      """
      SELECT id, request, issued_at FROM note_commands
      WHERE pipeline = ? AND device_note = ? AND status = 'waiting' ORDER BY issued_at, id
      """, [.text(pipeline), .text(deviceNote)], to: RecordingTable.reading)
    for row in rows {
      guard let id = row[0].text, let issuedAt = row[2].real,
        let stored: PendingCommand = try? StoredJSON.decode(row[1].text ?? ""),
        let request = stored.request
      else { continue }
      let command = RecordingCommand(
        id: id, pipeline: pipeline, recording: deviceNote, request: request, issuedAt: issuedAt)
      let result = try decide(command, at: time, in: &database)
      try database.run(
        """
        UPDATE note_commands SET note = ?, status = ?, reason = ?, taken_at = ?, answered = 0,
          is_decided_late = 1
        WHERE pipeline = ? AND id = ?
        """,
        [
          SQLValue(result.recording?.name), .text(result.status.rawValue), SQLValue(result.reason),
          .real(time), .text(pipeline), .text(id),
        ], to: RecordingTable.recordAction)
    }
  }

  /// Unanswered commands, the oldest first.
  static func unanswered(
    pipeline: String, limit: Int, in database: inout Database
  ) throws(SpoolError) -> [RecordingCommandResult] {
    try results(
      "WHERE pipeline = ? AND answered = 0 ORDER BY taken_at LIMIT ?",
      [.text(pipeline), SQLValue(max(0, limit))], in: &database)
  }

  private static func known(
    _ id: String, _ pipeline: String, in database: inout Database
  ) throws(SpoolError) -> RecordingCommandResult? {
    try results(
      "WHERE pipeline = ? AND id = ?", [.text(pipeline), .text(id)], in: &database
    ).first
  }

  private static func results(
    _ rest: String, _ values: [SQLValue], in database: inout Database
  ) throws(SpoolError) -> [RecordingCommandResult] {
    try database.run(
      """
      SELECT id, status, reason, note, taken_at, request, is_decided_late FROM note_commands
      \(rest)
      """, values, to: RecordingTable.reading
    ).compactMap { row in
      guard let id = row[0].text,
        let status = row[1].text.flatMap(RecordingCommandResult.Status.init(rawValue:))
      else { return nil }
      let stored: PendingCommand? = try? StoredJSON.decode(row[5].text ?? "")
      return RecordingCommandResult(
        id: id, status: status, reason: row[2].text,
        recording: row[3].text.map { RecordingKey($0) },
        isFresh: false, decidedAt: row[4].real, request: stored?.request,
        isDecidedLate: row[6].integer == 1)
    }
  }

  /// Applies a request if it is allowed.
  private static func decide(
    _ command: RecordingCommand, at time: Double, in database: inout Database
  ) throws(SpoolError) -> RecordingCommandResult {
    func result(
      _ status: RecordingCommandResult.Status, _ reason: String? = nil,
      _ recording: RecordingKey? = nil
    ) -> RecordingCommandResult {
      RecordingCommandResult(
        id: command.id, status: status, reason: reason, recording: recording, isFresh: true,
        decidedAt: time, request: command.request)
    }
    guard let recording = try recording(of: command, in: &database) else {
      return result(.waiting, "its recording has not arrived yet")
    }
    let later = try database.run(
      """
      SELECT id FROM note_commands WHERE note = ? AND subject = ? AND status = 'applied'
        AND (issued_at, id) > (?, ?) LIMIT 1
      """,
      [
        .text(recording.key.name), .text(command.request.subject), .real(command.issuedAt),
        .text(command.id),
      ], to: RecordingTable.reading)
    if let id = later.first?[0].text {
      return result(.superseded, "command \(id) is later and was done before", recording.key)
    }
    switch try RecordingWork(time: time).change(
      recording.key, command.request.change, in: &database)
    {
    case .changed: return result(.applied, nil, recording.key)
    case .refused(let refusal): return result(.refused, refusal.reason, recording.key)
    case nil: return result(.refused, "its recording is gone", recording.key)
    }
  }

  private static func recording(
    of command: RecordingCommand, in database: inout Database
  ) throws(SpoolError) -> Recording? {
    let known = try RecordingAdmitter.recording(
      deviceID: command.recording, pipeline: command.pipeline, in: &database)
    if let known { return known }
    let recording = try RecordingTable.recording(RecordingKey(command.recording), in: &database)
    return recording?.pipeline == command.pipeline ? recording : nil
  }
}

/// A stored request whose recording has not arrived.
struct PendingCommand: Codable {
  let name: String
  let title: String?
  let tags: [String]?

  init(_ request: RecordingCommand.Request) {
    name = request.name
    switch request {
    case .retry, .cancel: (title, tags) = (nil, nil)
    case .rename(let title): (self.title, tags) = (title, nil)
    case .tag(let tags): (title, self.tags) = (nil, tags)
    }
  }

  var request: RecordingCommand.Request? {
    switch name {
    case "retry": .retry
    case "cancel": .cancel
    case "rename": title.map { .rename($0) }
    case "tag": tags.map { .tag($0) }
    default: nil
    }
  }
}
