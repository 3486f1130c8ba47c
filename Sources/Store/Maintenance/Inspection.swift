import Glibc
import PipelineModel
package import Platform

/// A check of a whole store, without changes: every artifact against its name, every checkpoint
/// against its artifacts, key, the database against its change log, and exports against what was published.
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
  let log: ChangeLog
  private let drafts: DraftFolder

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
    drafts = DraftFolder(path: layout.drafts, files: files)
    log = ChangeLog(layout: layout, drafts: drafts, files: files)
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
    report.ballastBytes = Ballast(layout, drafts).keptByteCount
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
      let (recorded, published) = try inspectRuns(in: &database, &report)
      try inspectExports(published, in: &database, &report)
      try inspectArtifacts(named, recorded: recorded, in: &database, &report)
      let lost = try LostRecords(layout: layout, files: files).finding(in: &database)
      report.findings += [lost].compactMap(\.self)
      try inspectPins(in: &database, &report)
      try inspectLog(in: &database, &report)
      try inspectRecordings(in: &database, &report)
      try inspectDeliveries(in: &database, &report)
      try inspectWork(in: &database, &report)
      try inspectBackups(&report)
      return report
    }
    try inspectArtifactsAlone(&report)
    try inspectLogAlone(&report)
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
    case .blank where rebuild.isUnborn: return .unborn
    case .blank:
      return .damaged(isThere(layout.database) ? DatabaseLoss.empty : DatabaseLoss.gone)
    case .damaged(let reason): return .damaged(reason)
    case .sound: break
    }
    var database: Database
    do throws(DatabaseSnapshot.Failure) {
      database = try DatabaseSnapshot.open(layout)
    } catch {
      guard (try? FileStamp(at: layout.database)) != nil else {
        if rebuild.isUnborn { return .unborn }
        return .damaged(DatabaseLoss.gone)
      }
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
    case .blank:
      // On a full disk, where the condition was not asked for, as elsewhere.
      if rebuild.isUnborn { return .unborn }
      return .damaged(DatabaseLoss.empty)
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

  private var rebuild: Rebuild {
    Rebuild(
      layout: layout, files: files, schema: .current, log: log, slots: slots, now: Clock.now())
  }

  private func databaseFinding(_ reason: String) -> InspectionFinding {
    InspectionFinding(
      .database, layout.database, problem: DatabaseLoss.line(reason),
      meaning: rebuild.hasNoSource
        ? Self.withoutSource
        : "runs and checkpoints are not found in it; the next command makes it again from "
          + DatabaseLoss.source(slots.newestGood, isLogLost: rebuild.isLogLost))
  }

  /// What the loss of a database with its log and its backups means.
  static let withoutSource =
    "neither a change log nor a backup is there to make it again from: \(command: .restore) FILE "
    + "puts a backup in its place; without one, all files are kept, for the recordings of an inbox "
    + "may be among them"

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
            meaning: "the database cannot be restored from it; "
              + (slots.filled.count > 1
                ? "the other backups can be used"
                : "there is no other, until the next one is made within a day of work")))
      }
    }
  }

  /// Throws unless there is something like a store.
  static func requireStore(at layout: StoreLayout) throws(SpoolError) {
    if layout.isThere { return }
    if let refusal = layout.refusalToRead { throw refusal }
    throw SpoolError(
      "find a store", layout.root, reason: "there is no store at \(layout.root)",
      advice: "name the store's folder with \(option: .store); \(command: .run) makes one")
  }

  /// Checks the artifacts that recordings need. A file in the folder of accepted or of quarantined
  /// files is as good as the store's; only where the store lacks the original it is looked for, and read.
  func inspectRecordings(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) {
    let completed = try RecordingFileTable.completed(in: &database)
    for (recording, artifact) in try RecordingTable.artifacts(in: &database)
    where !isThere(layout.artifact(artifact)) && !completed.contains(recording.key) {
      let isOriginal = artifact == recording.content.digest
      if let file = try releasedFile(of: recording, in: &database) {
        guard isOriginal else { continue }
        report.findings.append(
          InspectionFinding(
            .originalElsewhere, layout.artifact(artifact), subject: recording.key.name,
            problem: "the original of \(recording.key) (\(recording.fileName)) is not in the store",
            meaning: Self.liesIn(file, try DeliveryQueue.holder(of: artifact, in: &database)),
            advice: nil))
        continue
      }
      let aside = "\(layout.damaged)/\(artifact.hex)"
      let companion =
        isOriginal
        ? nil
        : try RecordingFileTable.files(
          "WHERE note = ? AND note_files.digest = ? LIMIT 1",
          [.text(recording.key.name), .text(artifact.hex)], in: &database
        ).first?.path ?? "its sidecar"
      report.findings.append(
        InspectionFinding(
          .missingRecording, layout.artifact(artifact), subject: recording.key.name,
          problem: companion.map {
            "\($0), which came with \(recording.key) (\(recording.fileName)), is not there"
          } ?? "the file of \(recording.key) (\(recording.fileName)) is not there",
          meaning: (isThere(aside) ? "it was damaged, and is kept as \(aside); " : "")
            + InspectionFinding.lostOriginal(
              of: recording.key,
              confirmedBy: try DeliveryQueue.holder(of: artifact, in: &database)),
          advice: "\(command: .inboxShow) \(recording.key)"))
    }
  }

  /// Reports files that are to be delivered and lie nowhere any more. O(deliveries on their way).
  private func inspectDeliveries(
    in database: inout Database, _ report: inout InspectionReport
  ) throws(SpoolError) {
    for delivery in try DeliveryQueue.deliveries(
      "WHERE state <> 'delivered' AND made_of IS NULL ORDER BY id", [], in: &database)
    where !isThere(layout.artifact(delivery.file.digest))
      && !(delivery.file.path.map(FilePath.exists) ?? false)
    {
      report.findings.append(
        InspectionFinding(
          .undeliverable, delivery.file.path ?? layout.artifact(delivery.file.digest),
          subject: "\(delivery.id)",
          problem: "\(delivery.file.name), which \(delivery.destination) is to get, is not there",
          meaning: "it cannot be sent; its pipeline, run again, queues what it gives", advice: nil))
    }
  }

  /// The file of a recording that is done or quarantined, outside the store, if it is as it arrived.
  func releasedFile(
    of recording: Recording, in database: inout Database
  ) throws(SpoolError) -> RecordingFile? {
    try RecordingTable.releasedFile(of: recording, in: &database) { file in
      guard !options.isQuick, let path = file.systemPath else { return true }
      guard let opened = try? files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else {
        return false
      }
      return (try? files.digest(of: opened).digest) == recording.content.digest
    }
  }

  /// What the loss of the store's original means where its file lies elsewhere.
  /// - Parameter destination: one that has confirmed it; nil if none has.
  static func liesIn(_ file: RecordingFile, _ destination: String?) -> String {
    "it lies in \(file.printablePath)"
      + (destination.map { ", and at the destination \($0)" }
        ?? ", and nowhere else: keep that file")
  }
}
