import PipelineModel
import Platform

/// The runs excluded from collection.
enum PinTable {
  static let action = "record a pin in"

  static func write(_ pin: Pin, to database: inout Database) throws(SpoolError) {
    try database.run(
      "INSERT OR IGNORE INTO pins (run, pinned_at) VALUES (?, ?)",
      [.text(pin.run.name), .real(pin.pinnedAt)], to: action)
  }

  static func remove(_ run: RunID, from database: inout Database) throws(SpoolError) {
    try database.run("DELETE FROM pins WHERE run = ?", [.text(run.name)], to: action)
  }

  /// All rows; an unreadable name is taken for an empty one.
  static func pins(in database: inout Database) throws(SpoolError) -> [Pin] {
    try database.run("SELECT run, pinned_at FROM pins ORDER BY run", to: "read pins in").map {
      row in
      var time = 0.0
      if case .real(let value) = row[1] { time = value }
      return Pin(run: RunID(row[0].text ?? ""), pinnedAt: time)
    }
  }

  /// The runs among `runs` that are pinned.
  static func pinned(
    among runs: [RunRecord], in database: inout Database
  ) throws(SpoolError) -> Set<String> {
    let rows = Set(try pins(in: &database).map(\.run))
    return Set(runs.map(\.id).filter(rows.contains).map(\.name))
  }

  static func isRunKnown(_ run: RunID, in database: inout Database) throws(SpoolError) -> Bool {
    try !database.run("SELECT 1 FROM runs WHERE id = ?", [.text(run.name)], to: "read runs in")
      .isEmpty
  }
}

/// A run excluded from collection.
struct Pin: Hashable, Sendable, Codable {
  let run: RunID
  let pinnedAt: Double
}
