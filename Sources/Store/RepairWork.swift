import Glibc
internal import Hashing
internal import PipelineModel

/// What is done about each kind of finding. Every step leaves a store that works, so that a repair
/// may be cut off anywhere.
struct RepairWork {
  private let layout: StoreLayout
  private let records: RecordFolder
  private let files: FileOperations
  private let rebuild: Rebuild

  init(_ site: borrowing RepairSite) {
    layout = site.layout
    records = site.records
    files = site.files
    rebuild = site.rebuild
  }

  private var ledger: Ledger { Ledger(records: records) }

  /// - Returns: whether there was anything to do.
  func repair(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(StoreError) -> Bool {
    switch finding.kind {
    case .databaseBehind: _ = try ledger.catchUp(&database, with: rebuild)
    case .damagedArtifact: try setAside(finding, &database)
    case .missingArtifact: try strike(finding, &database)
    case .unreadableCheckpoint, .contradiction: try replaceCheckpoint(finding, &database)
    case .unreadableRun: try replaceRun(finding, &database)
    case .damagedRecord: try rewrite(finding.path, &database)
    case .damagedBackup: try records.remove(finding.path)
    case .damagedNote, .damagedWork: try forgetNote(finding, &database)
    case .damagedPin: try PinTable.mend(&database, with: records)
    case .withoutRecord: try record(finding, &database)
    case .onlyRecord: try takeIn(finding, &database)
    case .database, .unfinishedStore, .missingRecording, .damagedLedger, .unnamedArtifact,
      .strayFile,
      .exportMissing,
      .exportChanged:
      return false
    }
    return true
  }

  private func setAside(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(StoreError) {
    guard let digest = finding.subject.flatMap(Digest.init(hex:)) else { return }
    _ = try DamageRemoval(layout: layout, records: records, files: files).remove(
      ArtifactDamage(digest: digest, stamp: nil, problem: finding.problem), from: &database)
  }

  /// What was computed from a file while it was there is as good as it was.
  private func strike(_ finding: InspectionFinding, _ database: inout Database) throws(StoreError) {
    guard let digest = finding.subject.flatMap(Digest.init(hex:)) else { return }
    let struck = try database.transaction(to: "strike an artifact from") {
      (database) throws(StoreError) in
      try CheckpointTable.strike(digest, from: &database)
    }
    for key in struck.removed { try records.remove(records.path(of: key)) }
    for key in struck.kept {
      if let rows = try CheckpointTable.checkpoint(for: key, in: &database) {
        try records.write(rows)
      }
    }
  }

  /// The work is begun anew, and its files are written anew with it.
  private func forgetNote(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(StoreError) {
    guard let work = finding.subject else { return }
    try database.run(
      "UPDATE work SET note = NULL, noted_at = NULL WHERE work = ?", [.text(work)],
      to: "repair unfinished work in")
  }

  private func replaceCheckpoint(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(StoreError) {
    guard let text = finding.subject else { return }
    var record: Checkpoint?
    if let key = Digest(hex: text).map(Checkpoint.Key.init) {
      record = try records.checkpoint(at: records.path(of: key))
    }
    try database.transaction(to: "repair a checkpoint in") { (database) throws(StoreError) in
      try CheckpointTable.remove(text, from: &database)
      if let record = record.flatMap(backed) { try CheckpointTable.write(record, to: &database) }
    }
  }

  private func replaceRun(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(StoreError) {
    guard let id = finding.subject else { return }
    let record = try records.recordedRun(at: records.path(of: RunID(id)))
    try database.transaction(to: "repair a run in") { (database) throws(StoreError) in
      try database.run("DELETE FROM runs WHERE id = ?", [.text(id)], to: "repair a run in")
      if let record { try RunTable.write(record, to: &database) }
    }
  }

  /// Writes a damaged record again from what the database knows, or removes it.
  private func rewrite(_ path: String, _ database: inout Database) throws(StoreError) {
    if path.contains("/ledger-") { return try ledger.renew(in: &database) }
    let name = String(path.split(separator: "/").last?.dropLast(5) ?? "")
    if let key = Digest(hex: name).map(Checkpoint.Key.init), path == records.path(of: key),
      let rows = try CheckpointTable.checkpoint(for: key, in: &database)
    {
      return try records.write(rows)
    }
    for row in try database.run("SELECT record, number FROM runs", to: "read runs in") {
      if let run: RunRecord = row[0].text.flatMap({ try? StoredJSON.decode($0) }),
        records.path(of: run.id) == path
      {
        return try records.write(RecordedRun(run, number: row[1].integer ?? 0))
      }
    }
    for row in try database.run("SELECT run, pinned_at FROM pins", to: "read pins in") {
      guard let run = row[0].text, case .real(let time) = row[1],
        records.path(ofPin: RunID(run)) == path
      else { continue }
      return try records.write(Pin(run: RunID(run), pinnedAt: time))
    }
    let isReadable = try [
      records.checkpoint(at: path) != nil, records.run(at: path) != nil,
      records.pin(at: path) != nil,
    ].contains(true)
    if !isReadable { try records.remove(path) }
  }

  private func record(_ finding: InspectionFinding, _ database: inout Database) throws(StoreError) {
    guard let subject = finding.subject else { return }
    if let key = Digest(hex: subject).map(Checkpoint.Key.init),
      let rows = try CheckpointTable.checkpoint(for: key, in: &database)
    {
      return try records.write(rows)
    }
    let rows = try database.run(
      "SELECT record, number FROM runs WHERE id = ?", [.text(subject)], to: "read runs in")
    if let run: RunRecord = rows.first?[0].text.flatMap({ try? StoredJSON.decode($0) }) {
      try records.write(RecordedRun(run, number: rows.first?[1].integer ?? 0))
    }
  }

  private func takeIn(_ finding: InspectionFinding, _ database: inout Database) throws(StoreError) {
    if let checkpoint = try records.checkpoint(at: finding.path) {
      guard let backed = backed(checkpoint) else { return try records.remove(finding.path) }
      try database.transaction(to: "repair a checkpoint in") { (database) throws(StoreError) in
        try CheckpointTable.write(backed, to: &database)
      }
    } else if let run = try records.recordedRun(at: finding.path) {
      try RunTable.write(run, to: &database)
    }
  }

  /// The checkpoint without kept sound that is gone; nil if anything else that it names is gone.
  private func backed(_ checkpoint: Checkpoint) -> Checkpoint? {
    checkpoint.backed(where: layout.holds)
  }
}
