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

  /// The names of all pinned runs.
  static func all(in database: inout Database) throws(StoreError) -> Set<String> {
    Set(try database.run("SELECT run FROM pins", to: "read pins in").compactMap { $0.first?.text })
  }
}
