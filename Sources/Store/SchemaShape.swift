internal import PipelineModel

/// What a database consists of: its tables with their columns, its indices and triggers. Texts and
/// rows do not count, so that every version of SQLite makes the same of the same steps.
struct SchemaShape: Hashable, Sendable {
  private let parts: Set<String>

  /// Whether there is nothing in the database.
  var isEmpty: Bool { parts.isEmpty }

  /// The shape of an open database. What SQLite keeps for itself is left out.
  init(of database: inout Database) throws(StoreError) {
    let rows = try database.run(
      """
      SELECT s.type || ' ' || s.name || ' ' || s.tbl_name || ' ' || coalesce((
        SELECT group_concat(c.name) FROM pragma_table_info(s.name) AS c), '')
      FROM sqlite_schema AS s WHERE s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      """, to: "read the tables of")
    parts = Set(rows.compactMap { $0.first?.text })
  }

  /// The shapes after each of the steps, as SQLite makes them of nothing.
  static func all(of steps: [String]) throws(StoreError) -> [SchemaShape] {
    var scratch = try Database(at: ":memory:", for: .scratch)
    var shapes: [SchemaShape] = []
    for step in steps {
      try scratch.script(step, to: "make")
      shapes.append(try SchemaShape(of: &scratch))
    }
    return shapes
  }
}
