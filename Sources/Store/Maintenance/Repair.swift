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
    try repair(findings, at: site, &report)
    var quick = options
    quick.isQuick = true
    // What `check` will say; the bytes of artifacts were read before.
    report.remaining = try Inspection(of: path, quick, files: files, stop: stop).look().findings
      .filter(\.isDamage)
    return report
  }

  private func repair(
    _ findings: [InspectionFinding], at site: borrowing RepairSite, _ report: inout RepairReport
  ) throws(SpoolError) {
    var database = try Database(at: site.layout.database)
    // The log's rows that the database lacks, before the log may be written again.
    _ = try site.log.catchUp(&database)
    if findings.contains(where: \.kind.isOfLog) { try site.mend(&database) }
    database.recorder = site.log.recorder(knowing: .current)
    for kind in InspectionFinding.Kind.allCases {
      for finding in findings where finding.kind == kind {
        if try site.repair(finding, &database), let done = Self.intent(finding),
          !report.actions.contains(done)
        {
          report.actions.append(done)
        }
      }
    }
  }

  /// The action for a finding; nil for none.
  private static func intent(_ finding: InspectionFinding) -> RepairAction? {
    let what: String? =
      switch finding.kind {
      case .database: "make the database again"
      case .lostRecords: "keep the files whose records are lost, and call the store sound"
      case .databaseBehind: "take in what the database has lost from its log"
      case .damagedArtifact: "set the damaged file aside, and strike what may have been made of it"
      case .missingArtifact: "strike the missing file from its checkpoints"
      case .unreadableCheckpoint: "drop the checkpoint, or take it from the log"
      case .contradiction: "take it from the log"
      case .unreadableRun: "take the run from the log, or drop it"
      case .damagedRecord: "write the log again"
      case .damagedBackup: "delete the damaged backup"
      case .damagedNote, .damagedWork: "forget how far the unfinished work was"
      case .damagedPin: "take the pins from the log"
      case .withoutRecord: "write the log again"
      case .onlyRecord: "take it into the database"
      case .unfinishedStore, .missingRecording, .missingWork, .originalElsewhere, .damagedLedger,
        .untoldLedger, .unnamedArtifact, .strayFile, .exportMissing, .exportChanged,
        .undeliverable:
        nil
      }
    return what.map { RepairAction(what: $0, path: finding.path, subject: finding.subject) }
  }
}

/// The action for each kind of finding. Every step leaves a consistent store, so that a repair may
/// be interrupted anywhere.
extension RepairSite {
  /// - Returns: whether there was anything to do.
  func repair(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(SpoolError) -> Bool {
    switch finding.kind {
    case .lostRecords: try LostRecords(layout: layout, files: files).accept()
    case .databaseBehind: _ = try log.catchUp(&database)
    case .damagedArtifact: try setAside(finding, &database)
    case .missingArtifact: try strike(finding, &database)
    case .unreadableCheckpoint: try dropUnreadableCheckpoint(finding, &database)
    case .unreadableRun: try rewriteRun(finding, &database)
    case .contradiction, .damagedPin, .withoutRecord, .onlyRecord: break
    case .damagedRecord: try log.renew(in: &database)
    case .damagedBackup:
      try doing("remove", finding.path) { () throws(SystemError) in
        try files.unlinkIfThere(finding.path)
      }
    case .damagedNote, .damagedWork: try forgetNote(finding, &database)
    case .database, .unfinishedStore, .missingRecording, .missingWork, .originalElsewhere,
      .damagedLedger, .untoldLedger, .unnamedArtifact, .strayFile, .exportMissing, .exportChanged,
      .undeliverable:
      return false
    }
    return true
  }

  private func setAside(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(SpoolError) {
    guard let digest = finding.subject.flatMap(Digest.init(hex:)) else { return }
    _ = try DamageRemoval(layout: layout, files: files).remove(
      ArtifactDamage(digest: digest, stamp: nil, problem: finding.problem), from: &database)
  }

  /// What was computed from the file while it existed is still good.
  private func strike(_ finding: InspectionFinding, _ database: inout Database) throws(SpoolError) {
    guard let digest = finding.subject.flatMap(Digest.init(hex:)) else { return }
    _ = try database.transaction(to: "strike an artifact from") {
      (database) throws(SpoolError) in
      try CheckpointTable.strike(digest, from: &database)
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

  private func dropUnreadableCheckpoint(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(SpoolError) {
    guard let text = finding.subject else { return }
    let key = Digest(hex: text).map(Checkpoint.Key.init)
    if let key, try CheckpointTable.checkpoint(for: key, in: &database) != nil,
      try CheckpointTable.namesWell(text, in: &database)
    {
      return
    }
    try database.transaction(to: "repair a checkpoint in") { (database) throws(SpoolError) in
      try CheckpointTable.remove(text, from: &database)
    }
  }

  /// Writes the run's columns as its record has them, or drops the run.
  private func rewriteRun(
    _ finding: InspectionFinding, _ database: inout Database
  ) throws(SpoolError) {
    guard let id = finding.subject else { return }
    try database.transaction(to: "repair a run in") { (database) throws(SpoolError) in
      let run = try RunTable.run(id, in: &database)
      try database.run("DELETE FROM runs WHERE id = ?", [.text(id)], to: "repair a run in")
      if let run { try RunTable.write(run, to: &database) }
    }
  }

  /// Takes all rows that differ from an intact log from it, drops those that cannot be read, and
  /// then writes the log again, for rows that only the database has.
  func mend(_ database: inout Database) throws(SpoolError) {
    guard var logged = try log.replayed(ChangeLog.state(in: &database), .current) else { return }
    let differences = try RowDifference.all(in: &database, from: &logged)
    if differences.isEmpty { return }
    var extra: [String: [SQLRow]] = [:]
    for difference in differences where difference.inLog == nil {
      if let row = difference.inDatabase, try isReadable(difference, &database) {
        extra[difference.table, default: []].append(row)
      }
    }
    let action = "repair"
    // Deleting a parent row would delete its children.
    try database.script("PRAGMA foreign_keys = OFF", to: action)
    defer { try? database.script("PRAGMA foreign_keys = ON", to: action) }
    try database.transaction(to: action, isRecorded: false) { (database) throws(SpoolError) in
      for table in Set(differences.map(\.table)) {
        let columns = try TableColumns(of: table, in: &database)
        func insert(_ rows: [SQLRow]) throws(SpoolError) {
          var insertions = RowInsertions(into: table, keyOrder: columns.keyOrder)
          for row in rows { insertions.append(row) }
          try database.apply(insertions.bytes, to: action)
        }
        // All rows: one whose key cannot be read cannot be selected by it.
        try database.run("DELETE FROM \(table)", to: action)
        try columns.forEachPortion(in: &logged, insert)
        try insert(extra[table] ?? [])
      }
      try CheckpointTable.strikeMissing(in: layout, from: &database)
    }
    try log.renew(in: &database)
  }

  /// Whether a row that only the database has is what it says.
  private func isReadable(
    _ difference: RowDifference, _ database: inout Database
  ) throws(SpoolError) -> Bool {
    let id = difference.subject
    switch difference.table {
    case "checkpoints", "outputs":
      guard let key = Digest(hex: id).map(Checkpoint.Key.init) else { return false }
      return try CheckpointTable.checkpoint(for: key, in: &database) != nil
    case "runs": return try RunTable.run(id, in: &database) != nil
    case "pins": return try PinTable.isRunKnown(RunID(id), in: &database)
    default: return true
    }
  }
}

extension InspectionFinding.Kind {
  /// Whether the log may have what the database lost.
  fileprivate var isOfLog: Bool {
    switch self {
    case .unreadableCheckpoint, .contradiction, .unreadableRun, .damagedPin, .withoutRecord,
      .onlyRecord:
      true
    default: false
    }
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
  /// The damage that is left, as `check` lists it; none in a dry run.
  package internal(set) var remaining: [InspectionFinding] = []
  /// How the database was recovered; nil if it was sound.
  package internal(set) var recovery: Recovery?
  package let isDryRun: Bool

  /// Without what is left, which depends on what else was repaired: see the command.
  private enum CodingKeys: String, CodingKey {
    case findings, actions, recovery, isDryRun
  }

  /// Adds findings, actions and damage that is left from outside the store's own.
  package mutating func add(
    _ found: [InspectionFinding], done: [RepairAction], remaining: [InspectionFinding] = []
  ) {
    findings += found
    actions += done
    self.remaining += remaining
  }
}

/// A store held exclusively for repair.
struct RepairSite: ~Copyable {
  let layout: StoreLayout
  let files: FileOperations
  let log: ChangeLog
  let slots: BackupSlots
  let rebuild: Rebuild
  private let lock: FolderLock

  /// Takes the store; throws, naming the holders, if it is in use.
  /// - Parameters:
  ///   - action: what it is taken for.
  ///   - isMaking: whether to make its folder if there is none.
  init(
    _ path: String, to action: String = "repair", files: FileOperations, isMaking: Bool = false,
    patience: Int = 1000
  ) throws(SpoolError) {
    let layout = StoreLayout(root: FilePath.absolute(path))
    let drafts = DraftFolder(path: layout.drafts, files: files)
    let log = ChangeLog(layout: layout, drafts: drafts, files: files)
    let slots = BackupSlots(folder: layout.backups, files: files, schema: .current)
    if !isMaking { try Inspection.requireStore(at: layout) }
    try files.makeFolders(layout.root)
    try FilePath.requireWritable(layout.root)
    let lock = try FolderLock(layout.root)
    guard lock.wait(patience: patience, { $0.tryAlone() }) else {
      throw SpoolError(
        action, layout.root, reason: "\(lock.holdersInWords) works in it",
        advice: "wait until that has ended, or stop it")
    }
    for folder in [layout.artifacts, layout.drafts] {
      try files.makeFolders(folder)
    }
    self.layout = layout
    self.files = files
    self.log = log
    self.slots = slots
    rebuild = Rebuild(
      layout: layout, files: files, schema: .current, log: log, slots: slots,
      now: Clock.now())
    self.lock = lock
  }
}
