import Glibc
import PipelineModel
package import Platform

/// Repairs a store: rebuilds a lost database, and removes what is damaged, so that it is made again
/// when needed. Needs the store exclusively; a dry run does not, and writes nothing.
package struct Repair: Sendable {
  private let path: String
  private let options: Inspection.Options
  private let isDryRun: Bool
  private let files: FileOperations
  private let stop: StopRequest
  private let progress: @Sendable (InspectionProgress) -> Void

  /// - Parameters:
  ///   - isDryRun: whether only to list the actions.
  ///   - progress: called from several threads while artifacts are read.
  package init(
    of path: String, _ options: Inspection.Options = .init(), isDryRun: Bool = false,
    stop: StopRequest = StopRequest(),
    progress: @escaping @Sendable (InspectionProgress) -> Void = { _ in }
  ) {
    self.init(
      of: path, options, isDryRun: isDryRun, files: .system, stop: stop, progress: progress)
  }

  init(
    of path: String, _ options: Inspection.Options = .init(), isDryRun: Bool = false,
    files: FileOperations, stop: StopRequest = StopRequest(),
    progress: @escaping @Sendable (InspectionProgress) -> Void = { _ in }
  ) {
    self.path = path
    self.options = options
    self.isDryRun = isDryRun
    self.files = files
    self.stop = stop
    self.progress = progress
  }

  /// Repairs the store. Throws, naming the holders, if it is in use; throws if it has a newer
  /// format. Can be repeated after an interruption.
  package func run() throws(SpoolError) -> RepairReport {
    let inspection = Inspection(of: path, options, files: files, stop: stop, progress: progress)
    var report = RepairReport(isDryRun: isDryRun)
    if isDryRun {
      report.findings = try inspection.run().findings
      report.actions = report.findings.compactMap(Self.intent)
      return report
    }
    let site = try RepairSite(path, files: files)
    let first = try inspection.look()
    report.findings = first.findings
    var findings = first.findings
    if let broken = findings.first(where: { $0.kind == .database }) {
      report.recovery = try site.rebuild.run(because: first.databaseFault ?? broken.problem)
      report.actions.append(
        RepairAction(what: "make the database again", path: broken.path, subject: nil))
      // The artifacts are checked already; who names them is known only now.
      var quick = options
      quick.isQuick = true
      let second = try Inspection(of: path, quick, files: files, stop: stop).look()
      findings = findings.filter { $0.kind == .damagedArtifact } + second.findings
      report.findings += second.findings.filter { !report.findings.contains($0) }
    }
    var database = try Database(at: site.layout.database)
    // Damaged files first, since records are taken in only if their artifacts exist.
    for kind in InspectionFinding.Kind.allCases {
      for finding in findings where finding.kind == kind {
        if try site.repair(finding, &database), let done = Self.intent(finding),
          !report.actions.contains(done)
        {
          report.actions.append(done)
        }
      }
    }
    return report
  }

  /// The action for a finding; nil for none.
  private static func intent(_ finding: InspectionFinding) -> RepairAction? {
    let what: String? =
      switch finding.kind {
      case .database: "make the database again"
      case .databaseBehind: "take in what the database has lost from the records beside it"
      case .damagedArtifact: "set the damaged file aside, and strike what may have been made of it"
      case .missingArtifact: "strike the missing file from its checkpoints"
      case .unreadableCheckpoint: "drop the checkpoint, or take it from its record"
      case .contradiction: "take the checkpoint from its record"
      case .unreadableRun: "take the run from its record, or drop it"
      case .damagedRecord: "write the record again, or delete it"
      case .damagedBackup: "delete the damaged backup"
      case .damagedNote, .damagedWork: "forget how far the unfinished work was"
      case .damagedPin: "make the pins agree with their records"
      case .withoutRecord: "write the record"
      case .onlyRecord: "take the record into the database"
      case .unfinishedStore, .missingRecording, .damagedLedger, .unnamedArtifact, .strayFile,
        .exportMissing,
        .exportChanged:
        nil
      }
    return what.map { RepairAction(what: $0, path: finding.path, subject: finding.subject) }
  }
}

/// The action for each kind of finding. Every step leaves a consistent store, so that a repair may
/// be interrupted anywhere.
extension RepairSite {
  private var changeLog: ChangeLog { ChangeLog(records: records) }

  /// - Returns: whether there was anything to do.
  func repair(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(SpoolError) -> Bool {
    switch finding.kind {
    case .databaseBehind: _ = try changeLog.catchUp(&database, with: rebuild)
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
  ) throws(SpoolError) {
    guard let digest = finding.subject.flatMap(Digest.init(hex:)) else { return }
    _ = try DamageRemoval(layout: layout, records: records, files: files).remove(
      ArtifactDamage(digest: digest, stamp: nil, problem: finding.problem), from: &database)
  }

  /// What was computed from the file while it existed is still good.
  private func strike(_ finding: InspectionFinding, _ database: inout Database) throws(SpoolError) {
    guard let digest = finding.subject.flatMap(Digest.init(hex:)) else { return }
    let struck = try database.transaction(to: "strike an artifact from") {
      (database) throws(SpoolError) in
      try CheckpointTable.strike(digest, from: &database)
    }
    for key in struck.removed { try records.remove(records.path(of: key)) }
    for key in struck.kept {
      if let rows = try CheckpointTable.checkpoint(for: key, in: &database) {
        try records.write(rows)
      }
    }
  }

  /// The work starts over, with new files.
  private func forgetNote(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(SpoolError) {
    guard let work = finding.subject else { return }
    try database.run(
      "UPDATE work SET note = NULL, noted_at = NULL WHERE work = ?", [.text(work)],
      to: "repair unfinished work in")
  }

  private func replaceCheckpoint(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(SpoolError) {
    guard let text = finding.subject else { return }
    var record: Checkpoint?
    if let key = Digest(hex: text).map(Checkpoint.Key.init) {
      record = try records.checkpoint(at: records.path(of: key))
    }
    try database.transaction(to: "repair a checkpoint in") { (database) throws(SpoolError) in
      try CheckpointTable.remove(text, from: &database)
      if let record = record.flatMap({ backed($0) }) {
        try CheckpointTable.write(record, to: &database)
      }
    }
  }

  private func replaceRun(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(SpoolError) {
    guard let id = finding.subject else { return }
    let record = try records.recordedRun(at: records.path(of: RunID(id)))
    try database.transaction(to: "repair a run in") { (database) throws(SpoolError) in
      try database.run("DELETE FROM runs WHERE id = ?", [.text(id)], to: "repair a run in")
      if let record { try RunTable.write(record, to: &database) }
    }
  }

  /// Writes a damaged record again from the database, or removes it.
  private func rewrite(_ path: String, _ database: inout Database) throws(SpoolError) {
    if path.contains("/ledger-") { return try changeLog.renew(in: &database) }
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

  private func record(_ finding: InspectionFinding, _ database: inout Database) throws(SpoolError) {
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

  private func takeIn(_ finding: InspectionFinding, _ database: inout Database) throws(SpoolError) {
    if let checkpoint = try records.checkpoint(at: finding.path) {
      guard let backed = backed(checkpoint) else { return try records.remove(finding.path) }
      try database.transaction(to: "repair a checkpoint in") { (database) throws(SpoolError) in
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

/// An action of a repair.
package struct RepairAction: Hashable, Sendable, Codable {
  /// In words: `delete the damaged file`.
  package let what: String
  package let path: String
  /// The artifact's digest, the checkpoint's key or the run's name; nil if there is none.
  package let subject: String?

  package init(what: String, path: String, subject: String? = nil) {
    self.what = what
    self.path = path
    self.subject = subject
  }
}

/// The findings and actions of a repair.
package struct RepairReport: Hashable, Sendable, Codable {
  /// As `check` lists them.
  package internal(set) var findings: [InspectionFinding] = []
  /// In order; what would be done if `isDryRun`.
  package internal(set) var actions: [RepairAction] = []
  /// How the database was recovered; nil if it was sound.
  package internal(set) var recovery: Recovery?
  package let isDryRun: Bool

  /// Adds findings and actions from outside the store.
  package mutating func add(_ found: [InspectionFinding], done: [RepairAction]) {
    findings += found
    actions += done
  }
}

/// A store held exclusively for repair.
struct RepairSite: ~Copyable {
  let layout: StoreLayout
  let files: FileOperations
  let records: RecordFolder
  let slots: BackupSlots
  let rebuild: Rebuild
  private let lock: FolderLock

  /// Takes the store; throws, naming the holders, if it is in use.
  init(_ path: String, files: FileOperations, patience: Int = 1000) throws(SpoolError) {
    let layout = StoreLayout(root: FilePath.absolute(path))
    let drafts = DraftFolder(path: layout.drafts, files: files)
    let records = RecordFolder(layout: layout, drafts: drafts, files: files)
    let slots = BackupSlots(folder: layout.backups, files: files, schema: .current)
    try Inspection.requireStore(at: layout)
    try FilePath.requireWritable(layout.root)
    let lock = try FolderLock(layout.root)
    guard lock.wait(patience: patience, { $0.tryAlone() }) else {
      throw SpoolError(
        "repair", layout.root, reason: "\(lock.holdersInWords) works in it",
        advice: "wait until that has ended, or stop it")
    }
    for folder in [layout.artifacts, layout.drafts, layout.records] {
      try files.makeFolders(folder)
    }
    self.layout = layout
    self.files = files
    self.records = records
    self.slots = slots
    rebuild = Rebuild(
      layout: layout, files: files, schema: .current, records: records, slots: slots,
      now: Clock.now())
    self.lock = lock
  }
}
