internal import PipelineModel
import Platform

/// The rows of a recording or of a command as JSON that can be read back into the tables.
enum RecordingRows {
  private typealias Row = [String: SQLValue]

  /// A recording's rows in all tables; none if it was forgotten.
  private struct Recording: Codable {
    let key: String
    let tables: [String: [Row]]
  }

  /// The tables with a recording's rows and their key columns, parents first.
  private static let tables = [("notes", "key"), ("note_events", "note"), ("note_files", "note")]

  static func recording(_ key: String, in database: inout Database) throws(SpoolError) -> String {
    var found: [String: [Row]] = [:]
    for (table, column) in tables {
      found[table] = try rows(of: table, where: "\(column) = ?", [.text(key)], in: &database)
    }
    return try StoredJSON.encode(
      Recording(key: key, tables: found), to: RecordingTable.recordAction)
  }

  /// A recording's own row, and some rows of its history and files.
  static func part(
    of key: String, events: [Int64], files: [Int64], in database: inout Database
  ) throws(SpoolError) -> String {
    var found: [String: [Row]] = [:]
    found["notes"] = try rows(of: "notes", where: "key = ?", [.text(key)], in: &database)
    for number in events {
      found["note_events", default: []] += try rows(
        of: "note_events", where: "note = ? AND number = ?", [.text(key), .integer(number)],
        in: &database)
    }
    for number in files {
      found["note_files", default: []] += try rows(
        of: "note_files", where: "id = ?", [.integer(number)], in: &database)
    }
    return try StoredJSON.encode(
      Recording(key: key, tables: found), to: RecordingTable.recordAction)
  }

  /// Merges some of a recording's rows into the tables, inside a transaction.
  /// - Returns: whether they were readable.
  static func addPart(_ text: String, into database: inout Database) throws(SpoolError) -> Bool {
    guard let recording: Recording = try? StoredJSON.decode(text) else { return false }
    for (table, _) in tables {
      for row in recording.tables[table] ?? [] {
        // Replacing the parent row would delete its children.
        try put(row, into: table, of: &database, updating: table == "notes" ? "key" : nil)
      }
    }
    try RecordingTable.countChange(in: &database)
    return true
  }

  static func command(
    pipeline: String, id: String, in database: inout Database
  ) throws(SpoolError) -> String {
    let row = try rows(
      of: "note_commands", where: "pipeline = ? AND id = ?", [.text(pipeline), .text(id)],
      in: &database)
    return try StoredJSON.encode(row, to: RecordingTable.recordAction)
  }

  /// Replaces a recording's rows, inside a transaction.
  static func putRecording(_ text: String, into database: inout Database) throws(SpoolError) {
    guard let recording: Recording = try? StoredJSON.decode(text) else { return }
    try database.run(
      "DELETE FROM notes WHERE key = ?", [.text(recording.key)], to: RecordingTable.recordAction)
    for (table, _) in tables {
      for row in recording.tables[table] ?? [] { try put(row, into: table, of: &database) }
    }
    try RecordingTable.countChange(in: &database)
  }

  /// Replaces a command's row, inside a transaction.
  static func putCommand(_ text: String, into database: inout Database) throws(SpoolError) {
    guard let rows: [Row] = try? StoredJSON.decode(text) else { return }
    for row in rows { try put(row, into: "note_commands", of: &database) }
  }

  private static func rows(
    of table: String, where condition: String, _ values: [SQLValue],
    in database: inout Database
  ) throws(SpoolError) -> [Row] {
    let names = try columns(of: table, in: &database)
    return try database.run(
      "SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE \(condition)", values,
      to: RecordingTable.reading
    ).map { row in
      Dictionary(zip(names, row), uniquingKeysWith: { first, _ in first })
    }
  }

  /// Ignores columns that this version does not have.
  /// - Parameter key: the column by which an existing row is updated; nil to replace it.
  private static func put(
    _ row: Row, into table: String, of database: inout Database, updating key: String? = nil
  ) throws(SpoolError) {
    let names = try columns(of: table, in: &database).filter { row[$0] != nil }
    let update = key.map { key in
      let changes = names.filter { $0 != key }.map { "\($0) = excluded.\($0)" }
      return "ON CONFLICT (\(key)) DO UPDATE SET \(changes.joined(separator: ", "))"
    }
    try database.run(
      """
      INSERT \(update == nil ? "OR REPLACE " : "")INTO \(table) (\(names.joined(separator: ", ")))
      VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) \(update ?? "")
      """, names.compactMap { row[$0] }, to: RecordingTable.recordAction)
    if table == "notes", row["is_claim_open"] == nil, let key = row["key"] {
      try database.run(
        "UPDATE notes SET is_claim_open = coalesce(\(Schema.saysClaimIsOpen), 0) WHERE key = ?",
        [key], to: RecordingTable.recordAction)
    }
  }

  private static func columns(
    of table: String, in database: inout Database
  ) throws(SpoolError) -> [String] {
    try database.run(
      "SELECT name FROM pragma_table_info(?)", [.text(table)], to: RecordingTable.reading
    ).compactMap { $0.first?.text }
  }
}

extension SQLValue: Codable {
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

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .integer(let integer): try container.encode(integer)
    case .real(let real): try container.encode(real)
    case .text(let text): try container.encode(text)
    }
  }
}
