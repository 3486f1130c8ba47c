import Platform

/// A table's columns, as the database has them.
struct TableColumns {
  let table: String
  let names: [String]
  /// Of each column, its place in the primary key, from 1; 0 for none.
  let keyOrder: [Int]

  init(of table: String, in database: inout Database) throws(SpoolError) {
    let rows = try database.run(
      "SELECT name, pk FROM pragma_table_info(?)", [.text(table)], to: "read")
    self.table = table
    names = rows.compactMap { $0[0].text }
    keyOrder = rows.map { Int($0[1].integer ?? 0) }
  }

  /// The values of the primary key in a row.
  func key(of row: SQLRow) -> [SQLValue] {
    keyOrder.indices.filter { keyOrder[$0] > 0 }.sorted { keyOrder[$0] < keyOrder[$1] }
      .map { row[$0] }
  }

  private var keyNames: String {
    zip(names, keyOrder).filter { $0.1 > 0 }.sorted { $0.1 < $1.1 }.map(\.0)
      .joined(separator: ", ")
  }

  /// The rows after a key and up to another, in the order of keys.
  func rows(
    after first: [SQLValue]? = nil, upTo last: [SQLValue]? = nil, limit: Int = .max,
    in database: inout Database
  ) throws(SpoolError) -> [SQLRow] {
    func places(_ key: [SQLValue]) -> String { key.map { _ in "?" }.joined(separator: ", ") }
    let bounds =
      [
        first.map { "(\(keyNames)) > (\(places($0)))" },
        last.map { "(\(keyNames)) <= (\(places($0)))" },
      ]
      .compactMap(\.self)
    return try database.run(
      "SELECT \(names.joined(separator: ", ")) FROM \(table) "
        + (bounds.isEmpty ? "" : "WHERE \(bounds.joined(separator: " AND ")) ")
        + "ORDER BY \(keyNames) LIMIT ?",
      (first ?? []) + (last ?? []) + [.integer(Int64(limit))], to: "read")
  }

  /// Calls `body` with all rows in the order of keys, a few hundred at a time.
  func forEachPortion(
    in database: inout Database, _ body: ([SQLRow]) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    var last: [SQLValue]?
    while true {
      let rows = try rows(after: last, limit: Self.portion, in: &database)
      if !rows.isEmpty { try body(rows) }
      guard rows.count == Self.portion, let row = rows.last else { return }
      last = key(of: row)
    }
  }

  static let portion = 256
}

/// A row that differs between the database and what its log says.
struct RowDifference: Hashable, Sendable {
  let table: String
  let key: [SQLValue]
  /// Nil if the log does not have it.
  let inLog: SQLRow?
  /// Nil if the database does not have it.
  let inDatabase: SQLRow?

  /// The checkpoint's key, the run's name, or the row's key in words.
  var subject: String {
    if ["checkpoints", "outputs", "runs", "pins"].contains(table) { return key.first?.text ?? "" }
    let words = key.map { value in value.text ?? value.integer.map { "\($0)" } ?? "" }
    return words.joined(separator: ", ")
  }

  /// All differences in the tables of the log. O(rows).
  static func all(
    in database: inout Database, from log: inout Database
  ) throws(SpoolError) -> [RowDifference] {
    var differences: [RowDifference] = []
    for table in ChangeLog.tables {
      let columns = try TableColumns(of: table, in: &database)
      var last: [SQLValue]?
      var isOver = false
      while !isOver {
        let logged = try columns.rows(after: last, limit: TableColumns.portion, in: &log)
        isOver = logged.count < TableColumns.portion
        let end = isOver ? nil : logged.last.map(columns.key)
        let present = try columns.rows(after: last, upTo: end, in: &database)
        let found = Dictionary(
          present.map { (columns.key(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
        var known: Set<[SQLValue]> = []
        for row in logged {
          let key = columns.key(of: row)
          known.insert(key)
          if found[key] != row {
            differences.append(
              RowDifference(table: table, key: key, inLog: row, inDatabase: found[key]))
          }
        }
        for row in present where !known.contains(columns.key(of: row)) {
          differences.append(
            RowDifference(
              table: table, key: columns.key(of: row), inLog: nil, inDatabase: row))
        }
        last = end
      }
    }
    return differences
  }
}
