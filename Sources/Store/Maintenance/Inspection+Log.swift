internal import PipelineModel
internal import Platform

/// Compares the database with its change log.
extension Inspection {
  func inspectLog(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) {
    // One transaction, so that the log's length and the rows are of one moment.
    try database.run("BEGIN", to: "read")
    defer { _ = try? database.run("COMMIT", to: "read") }
    let state = try ChangeLog.state(in: &database)
    let path = log.path(state.generation)
    if try log.isAhead(of: state) {
      report.findings.append(
        InspectionFinding(
          .databaseBehind, layout.database,
          problem: "it does not know what was recorded last: it or its log was cut short",
          meaning: "nothing is lost; the next command that opens the store takes it in from the "
            + "change log", advice: "\(command: .runs)"))
    }
    guard state.generation > 0 else { return }
    guard var logged = try log.replayed(state, .current) else {
      // It may have been replaced meanwhile.
      if !isThere(path), log.generations.contains(where: { $0 > state.generation }) { return }
      report.findings.append(
        InspectionFinding(
          .damagedRecord, path, problem: "the change log is not what was written",
          meaning: "the database could not be made again from it"))
      return
    }
    let reported = Set(report.findings.compactMap(\.subject))
    var seen: Set<String> = []
    for difference in try RowDifference.all(in: &database, from: &logged)
    where !reported.contains(difference.subject) {
      if seen.insert(difference.subject).inserted {
        report.findings.append(finding(difference, path))
      }
    }
  }

  /// - Parameter path: the log's.
  private func finding(_ difference: RowDifference, _ path: String) -> InspectionFinding {
    let id = difference.subject
    let what: String
    switch difference.table {
    case "checkpoints", "outputs": what = "the checkpoint \(id.prefix(12))"
    case "runs": what = "the run \(id)"
    case "pins": what = "the pin of the run \(id)"
    default: what = "the row \(id) of \(difference.table)"
    }
    if difference.table == "pins" {
      return InspectionFinding(
        .damagedPin, layout.database, subject: id,
        problem:
          "\(what) \(difference.inDatabase == nil ? "is gone from the database" : "is not what the change log says")",
        meaning: "the log vouches for itself with checksums, so the database has been damaged; "
          + "\(command: .gc) keeps what either says")
    }
    if difference.inDatabase == nil {
      return InspectionFinding(
        .onlyRecord, path, subject: id, problem: "the database does not know \(what)",
        meaning: "it was lost there, and can be taken from the change log")
    }
    if difference.inLog == nil {
      return InspectionFinding(
        .withoutRecord, layout.database, subject: id, problem: "\(what) is not in the change log",
        meaning: "it would not outlive the loss of the database")
    }
    return InspectionFinding(
      difference.table == "runs" ? .unreadableRun : .contradiction, layout.database, subject: id,
      problem: "\(what) is not what the change log says",
      meaning: "the log vouches for itself with checksums, so the database has been damaged")
  }

  /// Without a database: counts what the log has, and checks it.
  func inspectLogAlone(_ report: inout InspectionReport) throws(SpoolError) {
    for generation in log.generations {
      var keys = CatchUp()
      try log.read(generation) { (record) throws(SpoolError) in keys.count(record.changes) }
      report.checkpoints = max(report.checkpoints, keys.checkpoints)
      report.runs = max(report.runs, keys.runs)
      let path = log.path(generation)
      if isThere(path), !log.isIntact(generation) {
        report.findings.append(
          InspectionFinding(
            .damagedRecord, path, problem: "the change log is not what was written",
            meaning: "what is damaged comes only from a backup"))
      }
    }
    report.checkpoints = max(report.checkpoints, log.old.checkpointPaths.count)
    report.runs = max(report.runs, log.old.runNames.count)
  }

  /// Pins of unknown runs: a flipped bit in a row pins another run, or none.
  func inspectPins(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) {
    for pin in try PinTable.pins(in: &database)
    where try !PinTable.isRunKnown(pin.run, in: &database) {
      report.findings.append(
        InspectionFinding(
          .damagedPin, layout.database, subject: pin.run.name,
          problem: "a pin names the run \(pin.run), and there is none of that name",
          meaning: "another run may have been meant"))
    }
  }
}
