internal import PipelineModel

/// The rows of a note, or of a device's command, as JSON that can be read back into the tables.
enum NoteRows {
  /// A row by its columns.
  private typealias Row = [String: Cell]

  /// A column's value. STRICT tables turn whole numbers into reals where they want those.
  private enum Cell: Codable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)

    init(_ value: SQLValue) {
      self =
        switch value {
        case .null: .null
        case .integer(let integer): .integer(integer)
        case .real(let real): .real(real)
        case .text(let text): .text(text)
        }
    }

    var value: SQLValue {
      switch self {
      case .null: .null
      case .integer(let integer): .integer(integer)
      case .real(let real): .real(real)
      case .text(let text): .text(text)
      }
    }

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

  /// A note's rows in all tables; none at all where it was forgotten.
  private struct Note: Codable {
    let key: String
    let tables: [String: [Row]]
  }

  /// The tables that have a note's rows, and the column with its key; parents first.
  private static let tables = [("notes", "key"), ("note_events", "note"), ("note_files", "note")]

  /// A note's rows.
  static func note(_ key: String, in database: inout Database) throws(StoreError) -> String {
    var found: [String: [Row]] = [:]
    for (table, column) in tables {
      found[table] = try rows(of: table, where: "\(column) = ?", [.text(key)], in: &database)
    }
    return try StoredJSON.encode(Note(key: key, tables: found), to: NoteTable.recording)
  }

  /// Some of a note's rows: how it is now itself, and these rows of its history and files.
  static func part(
    of key: String, events: [Int64], files: [Int64], in database: inout Database
  ) throws(StoreError) -> String {
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
    return try StoredJSON.encode(Note(key: key, tables: found), to: NoteTable.recording)
  }

  /// Puts some of a note's rows among those that are there of it, inside a transaction.
  /// - Returns: whether they could be read.
  static func addPart(_ text: String, into database: inout Database) throws(StoreError) -> Bool {
    guard let note: Note = try? StoredJSON.decode(text) else { return false }
    for (table, _) in tables {
      for row in note.tables[table] ?? [] {
        // Replacing a note's own row would take the others with it.
        try put(row, into: table, of: &database, updating: table == "notes" ? "key" : nil)
      }
    }
    try NoteTable.countChange(in: &database)
    return true
  }

  /// A command's row.
  static func command(
    pipeline: String, id: String, in database: inout Database
  ) throws(StoreError) -> String {
    let row = try rows(
      of: "note_commands", where: "pipeline = ? AND id = ?", [.text(pipeline), .text(id)],
      in: &database)
    return try StoredJSON.encode(row, to: NoteTable.recording)
  }

  /// Puts a note's rows in the place of what is there of it, inside a transaction.
  static func putNote(_ text: String, into database: inout Database) throws(StoreError) {
    guard let note: Note = try? StoredJSON.decode(text) else { return }
    try database.run(
      "DELETE FROM notes WHERE key = ?", [.text(note.key)], to: NoteTable.recording)
    for (table, _) in tables {
      for row in note.tables[table] ?? [] { try put(row, into: table, of: &database) }
    }
    try NoteTable.countChange(in: &database)
  }

  /// Puts a command's row in the place of what is there of it, inside a transaction.
  static func putCommand(_ text: String, into database: inout Database) throws(StoreError) {
    guard let rows: [Row] = try? StoredJSON.decode(text) else { return }
    for row in rows { try put(row, into: "note_commands", of: &database) }
  }

  private static func rows(
    of table: String, where condition: String, _ values: [SQLValue],
    in database: inout Database
  ) throws(StoreError) -> [Row] {
    let names = try columns(of: table, in: &database)
    return try database.run(
      "SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE \(condition)", values,
      to: NoteTable.reading
    ).map { row in
      Dictionary(zip(names, row.map(Cell.init)), uniquingKeysWith: { first, _ in first })
    }
  }

  /// Columns that another version has and this one has not are left out.
  /// - Parameter key: the column by which a row that is there is changed; nil to replace it.
  private static func put(
    _ row: Row, into table: String, of database: inout Database, updating key: String? = nil
  ) throws(StoreError) {
    let names = try columns(of: table, in: &database).filter { row[$0] != nil }
    let update = key.map { key in
      let changes = names.filter { $0 != key }.map { "\($0) = excluded.\($0)" }
      return "ON CONFLICT (\(key)) DO UPDATE SET \(changes.joined(separator: ", "))"
    }
    try database.run(
      """
      INSERT \(update == nil ? "OR REPLACE " : "")INTO \(table) (\(names.joined(separator: ", ")))
      VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) \(update ?? "")
      """, names.compactMap { row[$0]?.value }, to: NoteTable.recording)
  }

  private static func columns(
    of table: String, in database: inout Database
  ) throws(StoreError) -> [String] {
    try database.run(
      "SELECT name FROM pragma_table_info(?)", [.text(table)], to: NoteTable.reading
    ).compactMap { $0.first?.text }
  }
}
