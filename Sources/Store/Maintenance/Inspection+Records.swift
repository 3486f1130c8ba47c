internal import PipelineModel
internal import Platform

extension Inspection {
  /// Compares every record with the database.
  func inspectRecords(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) {
    var recorded: Set<String> = []
    for path in records.checkpointPaths {
      guard let record = try records.checkpoint(at: path) else {
        // It may be gone since it was listed.
        if isThere(path) { report.findings.append(damaged(path)) }
        continue
      }
      recorded.insert(record.key.digest.hex)
      if let finding = try compare(record, at: path, &database) { report.findings.append(finding) }
    }
    for text in try CheckpointTable.keys(in: &database) where !recorded.contains(text) {
      guard let key = Digest(hex: text).map(Checkpoint.Key.init), !isThere(records.path(of: key))
      else { continue }
      report.findings.append(behind(key))
    }
    for path in records.runPaths {
      guard let record = try records.run(at: path) else {
        report.findings.append(damaged(path))
        continue
      }
      let rows = try database.run(
        "SELECT 1 FROM runs WHERE id = ?", [.text(record.id.name)], to: "read runs in")
      if rows.isEmpty {
        report.findings.append(
          InspectionFinding(
            .onlyRecord, path, subject: record.id.name,
            problem: "the database does not know the run \(record.id.name)",
            meaning: "\(command: .runs) does not list it; its record can be taken in"))
      }
    }
    for path in records.pinPaths where try records.pin(at: path) == nil {
      report.findings.append(damaged(path))
    }
  }

  /// Checks the records without a database.
  func inspectRecordsAlone(_ report: inout InspectionReport) throws(SpoolError) {
    for path in records.checkpointPaths {
      report.checkpoints += 1
      if try records.checkpoint(at: path) == nil { report.findings.append(damaged(path)) }
    }
    for path in records.runPaths {
      report.runs += 1
      if try records.run(at: path) == nil { report.findings.append(damaged(path)) }
    }
    for path in records.pinPaths where try records.pin(at: path) == nil {
      report.findings.append(damaged(path))
    }
  }

  private func compare(
    _ record: Checkpoint, at path: String, _ database: inout Database
  ) throws(SpoolError) -> InspectionFinding? {
    let key = record.key
    guard let rows = try CheckpointTable.checkpoint(for: key, in: &database) else {
      let isUnreadable = try !database.run(
        "SELECT 1 FROM checkpoints WHERE key = ?", [.text(key.digest.hex)],
        to: "read checkpoints in"
      ).isEmpty
      if isUnreadable || !isThere(path) { return nil }
      return InspectionFinding(
        .onlyRecord, path, subject: key.digest.hex,
        problem: "the database does not know the checkpoint \(key.digest.short)",
        meaning: "its work would be done again; its record can be taken in")
    }
    switch RecordRelation(record: record, rows: rows) {
    case .same, .ahead: return nil
    case .behind: return behind(key)
    case .contradiction:
      return InspectionFinding(
        .contradiction, layout.database, subject: key.digest.hex,
        problem: "the checkpoint \(key.digest.short) is not what its record says",
        meaning: "the record vouches for itself with a digest, so the database has been damaged")
    }
  }

  private func behind(_ key: Checkpoint.Key) -> InspectionFinding {
    InspectionFinding(
      .withoutRecord, records.path(of: key), subject: key.digest.hex,
      problem: "the checkpoint \(key.digest.short) is not wholly recorded beside the database",
      meaning: "it would not outlive the loss of the database")
  }

  private func damaged(_ path: String) -> InspectionFinding {
    InspectionFinding(
      .damagedRecord, path, problem: "the record is not what was written",
      meaning: "the database could not be made again from it")
  }
}
