internal import Hashing
internal import PipelineModel

extension Inspection {
  /// Looks whether the database is as new as the ledger beside it, and whether that is whole.
  func inspectLedger(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(StoreError) {
    let ledger = Ledger(records: records)
    let standing = try Ledger.standing(in: &database)
    let newest: Int64
    switch try ledger.surplus(in: &database) {
    case .none:
      let text = LedgerText(try ledger.read(standing.generation)[...])
      guard text.byteCount < standing.byteCount else { return }
      report.findings.append(damagedLedger(ledger.path(standing.generation)))
      return
    case .lines(let lines, _):
      // One transaction may be somebody's who has died, or is just about to commit it.
      guard Set(lines.map(\.number)).count > 1 else { return }
      newest = lines.last?.number ?? 0
    case .everything(let lines): newest = lines.last?.number ?? 0
    }
    guard newest > standing.number else {
      report.findings.append(damagedLedger(ledger.path(standing.generation)))
      return
    }
    report.findings.append(
      InspectionFinding(
        .databaseBehind, layout.database,
        problem: "it does not know what was recorded last: it or its log was cut short",
        meaning: "nothing is lost; the next command that opens the store takes it in from the "
          + "records", advice: "spool runs"))
  }

  private func damagedLedger(_ path: String) -> InspectionFinding {
    InspectionFinding(
      .damagedRecord, path, problem: "the ledger is not what was written",
      meaning: "the notes of inboxes could not be told from it, should the database be lost")
  }

  /// Looks for the recordings that notes have in the store's keeping.
  func inspectNotes(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(StoreError) {
    for (note, artifact) in try NoteTable.heldArtifacts(in: &database)
    where !isThere(layout.artifact(artifact)) {
      let aside = "\(layout.damaged)/\(artifact.hex)"
      report.findings.append(
        InspectionFinding(
          .missingRecording, layout.artifact(artifact), subject: note.key.name,
          problem: "what came with the note \(note.key) (\(note.fileName)) is not there",
          meaning: isThere(aside)
            ? "it was damaged, and is kept as \(aside); send it again if you have it"
            : "it cannot be processed; send it again if you have it",
          advice: "spool inbox show \(note.key)"))
    }
  }
}
