import Glibc
import PipelineModel
package import Platform

/// A check of a whole store, without changes: every artifact against its name, every checkpoint
/// against its artifacts, key and record, the database, and exports against what was published.
///
/// Others may use the store meanwhile: their commits and removals do not count as damage.
package struct Inspection: Sendable {
  package struct Options: Sendable {
    /// Whether only names and lengths are checked.
    package var isQuick = false
    /// Threads that read in parallel.
    package var threadCount = 1
    /// The fault of unfinished work and its file, from its folder and the entries of its parts; nil
    /// if there is none or it is unknown. The store does not know the format of these files.
    package var workFault:
      @Sendable (_ folder: String, _ recordings: [String]) -> (path: String, problem: String)? = {
        _, _ in nil
      }

    package init() {}
  }

  let layout: StoreLayout
  let options: Options
  let files: FileOperations
  let stop: StopRequest
  let progress: @Sendable (InspectionProgress) -> Void
  let records: RecordFolder

  /// - Parameter progress: called from several threads.
  package init(
    of path: String, _ options: Options = Options(), stop: StopRequest = StopRequest(),
    progress: @escaping @Sendable (InspectionProgress) -> Void = { _ in }
  ) {
    self.init(of: path, options, files: .system, stop: stop, progress: progress)
  }

  init(
    of path: String, _ options: Options, files: FileOperations, stop: StopRequest = StopRequest(),
    progress: @escaping @Sendable (InspectionProgress) -> Void = { _ in }
  ) {
    layout = StoreLayout(root: FilePath.absolute(path))
    self.options = options
    self.files = files
    self.stop = stop
    self.progress = progress
    records = RecordFolder(
      layout: layout, drafts: DraftFolder(path: layout.drafts, files: files), files: files)
  }

  /// Runs the check; damage precedes remarks. Throws if there is no store, if it has a newer
  /// format, if another process repairs it, or if it was cancelled.
  package func run() throws(SpoolError) -> InspectionReport {
    try Self.requireStore(at: layout)
    let lock = try FolderLock(layout.root)
    guard lock.wait(patience: 2000, { $0.tryShared() }) else {
      throw SpoolError(
        "check", layout.root, reason: "it is just being repaired by \(lock.holdersInWords)",
        advice: "wait until that has ended")
    }
    var report = try look()
    report.findings = report.findings.filter(\.isDamage) + report.findings.filter { !$0.isDamage }
    _ = consume lock
    return report
  }

  /// As `run`; the caller holds the store's lock.
  func look() throws(SpoolError) -> InspectionReport {
    var report = InspectionReport()
    report.isThorough = !options.isQuick
    report.ballastBytes = Ballast(layout, records.drafts).keptByteCount
    var named: [Digest: Artifact] = [:]
    switch try open() {
    case .unborn:
      report.findings.append(
        InspectionFinding(
          .unfinishedStore, layout.root,
          problem: "the process that was making the store ended before it was done",
          meaning: "nothing was in it yet; the next command that opens it finishes it",
          advice: nil))
      return report
    case .damaged(let reason):
      report.databaseFault = reason
      report.findings.append(databaseFinding(reason))
    case .opened(var database):
      named = try inspectCheckpoints(in: &database, &report)
      try inspectRuns(in: &database, &report)
      try inspectExports(in: &database, &report)
      try inspectArtifacts(named, in: &database, &report)
      try inspectRecords(in: &database, &report)
      try inspectPins(in: &database, &report)
      try inspectChangeLog(in: &database, &report)
      try inspectRecordings(in: &database, &report)
      try inspectWork(in: &database, &report)
      try inspectBackups(&report)
      return report
    }
    try inspectArtifactsAlone(&report)
    try inspectRecordsAlone(&report)
    try inspectBackups(&report)
    return report
  }

  private enum Opening: ~Copyable {
    case opened(Database)
    case damaged(String)
    /// Never made, without traces of one.
    case unborn
  }

  private func open() throws(SpoolError) -> Opening {
    let condition =
      DatabaseSnapshot.isWritable(layout.root) ? DatabaseCondition(at: layout.database) : .sound
    switch condition {
    case .blank where isUnborn: return .unborn
    case .blank:
      return .damaged(isThere(layout.database) ? DatabaseLoss.empty : DatabaseLoss.gone)
    case .damaged(let reason): return .damaged(reason)
    case .sound: break
    }
    var database: Database
    do throws(DatabaseSnapshot.Failure) {
      database = try DatabaseSnapshot.open(layout)
    } catch {
      guard (try? FileStamp(at: layout.database)) != nil else { return .damaged(DatabaseLoss.gone) }
      guard case .unreadable(let error) = error else { throw error.error }
      return .damaged(error.why)
    }
    if case .newer(let version)? = try? Schema.current.status(of: &database) {
      throw Schema.current.newer(version, layout.database)
    }
    if let fault = try database.faults().first { return .damaged(fault) }
    // In a writable folder, the condition has reported it already.
    if !DatabaseSnapshot.isWritable(layout.root), database.isLockedByItsHeader {
      return .damaged(DatabaseCondition.lockedWords)
    }
    switch try Schema.current.status(of: &database) {
    case .damaged(let reason): return .damaged(reason)
    case .blank: return .damaged(DatabaseLoss.empty)
    case .ours(let version) where version < Schema.current.steps.count:
      throw SpoolError(
        "check", layout.database, reason: "an older Spool wrote it",
        advice: "\(command: .runs) brings it up to date; then check it")
    case .ours, .newer: break
    }
    return .opened(database)
  }

  private var slots: BackupSlots {
    BackupSlots(folder: layout.backups, files: files, schema: .current)
  }

  private var isUnborn: Bool {
    let (files, strays) = ArtifactFile.all(in: layout)
    return files.isEmpty && strays.isEmpty && records.isEmpty && slots.filled.isEmpty
  }

  private func databaseFinding(_ reason: String) -> InspectionFinding {
    return InspectionFinding(
      .database, layout.database, problem: DatabaseLoss.line(reason),
      meaning: "runs and checkpoints are not found in it; the next command makes it again from "
        + DatabaseLoss.source(slots.newestGood))
  }

  private func inspectBackups(_ report: inout InspectionReport) throws(SpoolError) {
    for number in slots.filled {
      report.backups += 1
      do {
        try slots.examine(slots.path(number))
      } catch {
        report.findings.append(
          InspectionFinding(
            .damagedBackup, slots.path(number), subject: "\(number)",
            problem: "backup \(number) cannot be used: \(error.why)",
            meaning: "the database cannot be restored from it; the other backups can be used"))
      }
    }
  }

  /// Throws unless there is something like a store.
  static func requireStore(at layout: StoreLayout) throws(SpoolError) {
    if layout.isThere { return }
    throw SpoolError(
      "find a store", layout.root, reason: "there is no store at \(layout.root)",
      advice: "name the store's folder with \(option: .store); \(command: .run) makes one")
  }
}

extension Inspection {
  /// Checks whether the change log is intact and not ahead of the database.
  func inspectChangeLog(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) {
    let changeLog = ChangeLog(records: records)
    let status = try ChangeLog.status(in: &database)
    let newest: Int64
    switch try changeLog.surplus(in: &database) {
    case .none:
      let text = ChangeLogText(try changeLog.read(status.generation)[...])
      guard text.byteCount < status.byteCount else { return }
      report.findings.append(damagedLedger(changeLog.path(status.generation)))
      return
    case .lines(let lines, _):
      // One transaction may be that of a dead process, or about to commit.
      guard Set(lines.map(\.number)).count > 1 else { return }
      newest = lines.last?.number ?? 0
    case .everything(let lines): newest = lines.last?.number ?? 0
    }
    guard newest > status.number else {
      report.findings.append(damagedLedger(changeLog.path(status.generation)))
      return
    }
    report.findings.append(
      InspectionFinding(
        .databaseBehind, layout.database,
        problem: "it does not know what was recorded last: it or its log was cut short",
        meaning: "nothing is lost; the next command that opens the store takes it in from the "
          + "records", advice: "\(command: .runs)"))
  }

  private func damagedLedger(_ path: String) -> InspectionFinding {
    InspectionFinding(
      .damagedRecord, path, problem: "the ledger is not what was written",
      meaning: "the notes of inboxes could not be told from it, should the database be lost")
  }

  /// Checks the artifacts that recordings need.
  func inspectRecordings(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) {
    for (recording, artifact) in try RecordingTable.heldArtifacts(in: &database)
    where !isThere(layout.artifact(artifact)) {
      let aside = "\(layout.damaged)/\(artifact.hex)"
      report.findings.append(
        InspectionFinding(
          .missingRecording, layout.artifact(artifact), subject: recording.key.name,
          problem: "what came with the note \(recording.key) (\(recording.fileName)) is not there",
          meaning: isThere(aside)
            ? "it was damaged, and is kept as \(aside); send it again if you have it"
            : "it cannot be processed; send it again if you have it",
          advice: "\(command: .inboxShow) \(recording.key)"))
    }
  }
}

extension Inspection {
  /// Compares pins with their records: a flipped bit in a row pins another run, or none, unnoticed
  /// by SQLite.
  func inspectPins(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) {
    let found = try pinFindings(in: &database)
    if found.isEmpty { return }
    // A pin being set has only one of the two for a moment.
    let again = try pinFindings(in: &database)
    report.findings += found.filter(again.contains)
  }

  private func pinFindings(
    in database: inout Database
  ) throws(SpoolError) -> [InspectionFinding] {
    var findings: [InspectionFinding] = []
    var recorded: [RunID: Pin] = [:]
    // An unreadable record is a finding of its own.
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
            "its record still holds it, so \(command: .gc) keeps what the run needs"))
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
            "one of the two is wrong; \(command: .gc) keeps what the run needs meanwhile"))
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
