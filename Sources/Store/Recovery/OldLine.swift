import PipelineModel
import Platform

/// A line of the old log, with a checksum that reveals torn lines.
///
/// `<checksum> <number> <kind> <payload>`: the checksum is a prefix of the SHA-256 of the rest; the
/// number grows from transaction to transaction.
struct OldLine {
  private enum Kind: String {
    /// A recording: the payload is its key and its rows, as JSON.
    case recording = "note"
    /// Changed rows of a recording with a long history: the payload is its key and the rows.
    case recordingPart = "note-part"
    /// A command: the payload is a digest of its name, and its row.
    case command
    /// Of no use without the records, which are read all the same.
    case checkpoint, run, head
  }

  private typealias Row = [String: SQLValue]

  /// A recording's rows in all tables; none if it was forgotten.
  private struct Rows: Decodable {
    let key: String
    let tables: [String: [Row]]
  }

  let number: Int64
  private let kind: Kind
  /// The first word of the payload.
  let subject: Substring
  /// The rest of the payload.
  private let rows: String

  /// The lines up to the first invalid one: a power cut may tear a line, and nothing after it counts.
  static func lines(in bytes: [UInt8]) -> [OldLine] {
    var lines: [OldLine] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")),
      let text = String(validating: rest[..<end], as: UTF8.self), let line = OldLine(text[...])
    {
      lines.append(line)
      rest = rest[(end + 1)...]
    }
    return lines
  }

  /// Reads a line without its line feed; nil unless it is canonical.
  private init?(_ text: Substring) {
    let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, let number = Int64(parts[1]), let kind = Kind(rawValue: "\(parts[2])"),
      SHA256.digest(of: "\(number) \(kind.rawValue) \(parts[3])").hex.prefix(16) == parts[0]
    else { return nil }
    self.number = number
    self.kind = kind
    subject = parts[3].prefix { $0 != " " }
    rows = String(parts[3].dropFirst(subject.count + 1))
  }

  /// The last line on each recording and command, in order, and all partial lines on a recording
  /// after its last whole one.
  static func last(_ lines: [OldLine]) -> [OldLine] {
    var seen: Set<String> = []
    return lines.reversed().filter { line in
      switch line.kind {
      case .recording: seen.insert("note \(line.subject)").inserted
      case .recordingPart: !seen.contains("note \(line.subject)")
      case .command: seen.insert("command \(line.subject)").inserted
      case .checkpoint, .run, .head: false
      }
    }.reversed()
  }

  /// Takes the line's rows in, inside a transaction.
  /// - Parameter isReplacing: whether a command's row replaces the database's.
  /// - Returns: whether they are a recording's, and readable.
  func adopt(into database: inout Database, isReplacing: Bool = true) throws(SpoolError) -> Bool {
    if kind == .command {
      for row: Row in (try? StoredJSON.decode(rows)) ?? [] {
        try Self.put(row, into: "note_commands", of: &database, isReplacing: isReplacing)
      }
      return false
    }
    guard let found: Rows = try? StoredJSON.decode(rows) else { return false }
    if kind == .recording {
      try database.run(
        "DELETE FROM notes WHERE key = ?", [.text(found.key)], to: RecordingTable.recordAction)
    }
    for table in ["notes", "note_events", "note_files"] {
      for row in found.tables[table] ?? [] {
        // Replacing the parent row would delete its children.
        let isUpdated = kind == .recordingPart && table == "notes"
        try Self.put(row, into: table, of: &database, updating: isUpdated ? "key" : nil)
      }
    }
    try RecordingTable.countChange(in: &database)
    return true
  }

  /// Ignores columns that this version does not have.
  /// - Parameter key: the column by which an existing row is updated; nil to replace it.
  private static func put(
    _ row: Row, into table: String, of database: inout Database, updating key: String? = nil,
    isReplacing: Bool = true
  ) throws(SpoolError) {
    let names = try columns(of: table, in: &database).filter { row[$0] != nil }
    let update = key.map { key in
      let changes = names.filter { $0 != key }.map { "\($0) = excluded.\($0)" }
      return "ON CONFLICT (\(key)) DO UPDATE SET \(changes.joined(separator: ", "))"
    }
    try database.run(
      """
      INSERT \(update != nil ? "" : isReplacing ? "OR REPLACE " : "OR IGNORE ")
        INTO \(table) (\(names.joined(separator: ", ")))
      VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) \(update ?? "")
      """, names.compactMap { row[$0] }, to: RecordingTable.recordAction)
    if table == "notes", row["is_claim_open"] == nil, let key = row["key"] {
      try database.run(
        "UPDATE notes SET is_claim_open = coalesce(\(saysClaimIsOpen), 0) WHERE key = ?",
        [key], to: RecordingTable.recordAction)
    }
  }

  /// Whether the reason of a row of `notes` is that of an open claim, as older versions wrote it.
  private static let saysClaimIsOpen =
    "reason = 'it claims to be ' || conflict || ' with other bytes'"

  private static func columns(
    of table: String, in database: inout Database
  ) throws(SpoolError) -> [String] {
    try database.run(
      "SELECT name FROM pragma_table_info(?)", [.text(table)], to: RecordingTable.reading
    ).compactMap { $0.first?.text }
  }
}

extension SQLValue: Decodable {
  /// A STRICT table turns a whole number into a real where needed.
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let real = try? container.decode(Double.self) {
      self = .real(real)
    } else {
      self = .text(try container.decode(String.self))
    }
  }
}
