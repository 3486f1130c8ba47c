internal import PipelineModel

extension PinTable {
  /// Makes rows and records agree: what a record says counts; a row that has none gets one if its run
  /// is there; what names no run goes. A pin too many costs room, one too few costs work.
  static func mend(
    _ database: inout Database, with records: RecordFolder
  ) throws(StoreError) {
    let action = "repair the pins in"
    try database.transaction(to: action) { (database) throws(StoreError) in
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
      // A name that a flipped bit has made unreadable could not be asked for.
      try database.run("DELETE FROM pins", to: action)
      for pin in wanted.values {
        try write(pin, to: &database)
        if try records.pin(at: records.path(ofPin: pin.run)) != pin { try records.write(pin) }
      }
    }
  }

  /// Whether there is a run of this name, in the database or in a record.
  static func isRunKnown(
    _ run: RunID, _ records: RecordFolder, in database: inout Database
  ) throws(StoreError) -> Bool {
    let rows = try database.run(
      "SELECT 1 FROM runs WHERE id = ?", [.text(run.name)], to: "read runs in")
    if !rows.isEmpty { return true }
    return try records.run(at: records.path(of: run)) != nil
  }
}
