import PipelineModel
import Platform

/// The runs excluded from collection.
enum PinTable {
  static func write(_ pin: Pin, to database: inout Database) throws(SpoolError) {
    try database.run(
      "INSERT OR IGNORE INTO pins (run, pinned_at) VALUES (?, ?)",
      [.text(pin.run.name), .real(pin.pinnedAt)], to: "record a pin in")
  }

  static func remove(_ run: RunID, from database: inout Database) throws(SpoolError) {
    try database.run("DELETE FROM pins WHERE run = ?", [.text(run.name)], to: "record a pin in")
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

  /// The runs pinned by a row or a record. An unreadable record pins the run in its file name.
  static func pinned(
    among runs: [RunRecord], _ records: RecordFolder, in database: inout Database
  ) throws(SpoolError) -> Set<String> {
    let rows = Set(try pins(in: &database).map(\.run))
    let paths = Set(records.pinPaths)
    return Set(
      runs.map(\.id).filter { rows.contains($0) || paths.contains(records.path(ofPin: $0)) }
        .map(\.name))
  }
}

extension PinTable {
  /// Makes rows and records agree: records win; a row without a record gets one if its run exists;
  /// unknown names are removed. A needless pin costs disk space, a missing one costs work.
  static func mend(
    _ database: inout Database, with records: RecordFolder
  ) throws(SpoolError) {
    let action = "repair the pins in"
    try database.transaction(to: action) { (database) throws(SpoolError) in
      var wanted: [RunID: Pin] = [:]
      for pin in try pins(in: &database) where try isRunKnown(pin.run, records, in: &database) {
        wanted[pin.run] = pin
      }
      for path in records.pinPaths {
        guard let pin = try records.pin(at: path) else { continue }
        if try isRunKnown(pin.run, records, in: &database) {
          wanted[pin.run] = pin
        } else {
          try records.remove(path)
        }
      }
      // A row with an unreadable name cannot be selected by it.
      try database.run("DELETE FROM pins", to: action)
      for pin in wanted.values {
        try write(pin, to: &database)
        if try records.pin(at: records.path(ofPin: pin.run)) != pin { try records.write(pin) }
      }
    }
  }

  static func isRunKnown(
    _ run: RunID, _ records: RecordFolder, in database: inout Database
  ) throws(SpoolError) -> Bool {
    let rows = try database.run(
      "SELECT 1 FROM runs WHERE id = ?", [.text(run.name)], to: "read runs in")
    if !rows.isEmpty { return true }
    return try records.run(at: records.path(of: run)) != nil
  }
}

/// A run excluded from collection.
struct Pin: Hashable, Sendable, Codable {
  let run: RunID
  let pinnedAt: Double
}
