internal import PipelineModel

/// The runs that are kept, whatever is freed.
enum PinTable {
  static func write(_ pin: Pin, to database: inout Database) throws(StoreError) {
    try database.run(
      "INSERT OR IGNORE INTO pins (run, pinned_at) VALUES (?, ?)",
      [.text(pin.run.name), .real(pin.pinnedAt)], to: "record a pin in")
  }

  static func remove(_ run: RunID, from database: inout Database) throws(StoreError) {
    try database.run("DELETE FROM pins WHERE run = ?", [.text(run.name)], to: "record a pin in")
  }

  /// All rows; a name that does not read is taken for an empty one.
  static func pins(in database: inout Database) throws(StoreError) -> [Pin] {
    try database.run("SELECT run, pinned_at FROM pins ORDER BY run", to: "read pins in").map {
      row in
      var time = 0.0
      if case .real(let value) = row[1] { time = value }
      return Pin(run: RunID(row[0].text ?? ""), pinnedAt: time)
    }
  }

  /// Those of the runs that a row or a record pins. A record that does not read pins the run that its
  /// file is named after.
  static func pinned(
    among runs: [RunRecord], _ records: RecordFolder, in database: inout Database
  ) throws(StoreError) -> Set<String> {
    let rows = Set(try pins(in: &database).map(\.run))
    let paths = Set(records.pinPaths)
    return Set(
      runs.map(\.id).filter { rows.contains($0) || paths.contains(records.path(ofPin: $0)) }
        .map(\.name))
  }
}
