internal import PipelineModel

extension Inspection {
  /// Compares the pins in the database with their records: a flipped bit in a row makes it the pin of
  /// another run, or of none, and SQLite sees nothing wrong with it.
  func inspectPins(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(StoreError) {
    let found = try pinFindings(in: &database)
    if found.isEmpty { return }
    // Whoever pins a run just now writes the one first and then the other.
    let again = try pinFindings(in: &database)
    report.findings += found.filter(again.contains)
  }

  private func pinFindings(
    in database: inout Database
  ) throws(StoreError) -> [InspectionFinding] {
    var findings: [InspectionFinding] = []
    var recorded: [RunID: Pin] = [:]
    // A record that does not read is a finding of its own.
    for path in records.pinPaths {
      if let pin = try records.pin(at: path) { recorded[pin.run] = pin }
    }
    let rows = try PinTable.pins(in: &database)
    let known = Set(rows.map(\.run))
    for pin in recorded.values.sorted(by: { $0.run.name < $1.run.name }) {
      let path = records.path(ofPin: pin.run)
      if try !PinTable.isRunKnown(pin.run, records, in: &database) {
        findings.append(withoutRun(pin, path))
      } else if !known.contains(pin.run) {
        findings.append(
          finding(
            pin, layout.database, "the pin of the run \(pin.run) is gone from the database",
            "its record still holds it, so spool gc keeps what the run needs"))
      }
    }
    for pin in rows {
      if let record = recorded[pin.run] {
        if record == pin { continue }
        findings.append(
          finding(
            pin, layout.database, "the pin of the run \(pin.run) is not what its record says",
            "the record vouches for itself with a digest, so the database has been damaged"))
      } else if try !PinTable.isRunKnown(pin.run, records, in: &database) {
        findings.append(withoutRun(pin, layout.database))
      } else if !isThere(records.path(ofPin: pin.run)) {
        findings.append(
          finding(
            pin, records.path(ofPin: pin.run),
            "the pin of the run \(pin.run) has no record beside the database",
            "one of the two is wrong; spool gc keeps what the run needs meanwhile"))
      }
    }
    return findings
  }

  private func withoutRun(_ pin: Pin, _ path: String) -> InspectionFinding {
    finding(
      pin, path, "a pin names the run \(pin.run), and there is none of that name",
      "another run may have been meant; whatever its record pins is kept")
  }

  private func finding(
    _ pin: Pin, _ path: String, _ problem: String, _ meaning: String
  ) -> InspectionFinding {
    InspectionFinding(
      .damagedPin, path, subject: pin.run.name, problem: problem, meaning: meaning)
  }
}
