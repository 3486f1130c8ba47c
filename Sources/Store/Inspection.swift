import Glibc
internal import Hashing
public import PipelineModel

/// A look at everything in a store, which changes nothing: every artifact against its name, every
/// checkpoint against its artifacts, its key and its record, the database against itself, exports
/// against what was published.
///
/// Others may work in the store meanwhile: what they commit or free is not taken for damage.
public struct Inspection: Sendable {
  /// How an inspection goes about it.
  public struct Options: Sendable {
    /// Whether the artifacts' bytes are left unread: names and lengths only.
    public var isQuick = false
    /// How many threads read side by side.
    public var threadCount = 1
    /// Tells what is wrong with the files of unfinished work and with which of them, given their
    /// folder and what the parts of that work noted; nil where nothing is, or where it cannot be
    /// told. The store itself does not know what such files hold.
    public var workFault:
      @Sendable (_ folder: String, _ notes: [String]) -> (path: String, problem: String)? = {
        _, _ in nil
      }

    /// All bytes, on one thread.
    public init() {}
  }

  let layout: StoreLayout
  let options: Options
  let files: FileOperations
  let stop: StopRequest
  let progress: @Sendable (InspectionProgress) -> Void
  let records: RecordFolder

  /// Prepares to look at the store in the folder at `path`.
  /// - Parameter progress: called now and then from several threads.
  public init(
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

  /// Looks at everything; damage comes before remarks. Throws if there is no store, if a newer Spool has written it, if another
  /// process repairs it, or if it was asked to stop.
  public func run() throws(StoreError) -> InspectionReport {
    try Self.requireStore(at: layout)
    let lock = try FolderLock(layout.root)
    guard lock.wait(patience: 2000, { $0.tryShared() }) else {
      throw StoreError(
        "check", path: layout.root, reason: "it is just being repaired by \(lock.holdersInWords)",
        advice: "wait until that has ended")
    }
    var report = try look()
    report.findings = report.findings.filter(\.isDamage) + report.findings.filter { !$0.isDamage }
    _ = consume lock
    return report
  }

  /// Looks at everything; the caller has the store's lock.
  func look() throws(StoreError) -> InspectionReport {
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
      try inspectLedger(in: &database, &report)
      try inspectNotes(in: &database, &report)
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
    /// It was never made, and nothing says that there was one.
    case unborn
  }

  private func open() throws(StoreError) -> Opening {
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
      return .damaged(error.reason)
    }
    if case .newer(let version)? = try? Schema.current.standing(of: &database) {
      throw Schema.current.newer(version, layout.database)
    }
    if let fault = try database.faults().first { return .damaged(fault) }
    // Where the folder may be written, the condition has told so already.
    if !DatabaseSnapshot.isWritable(layout.root), database.isLockedByItsHeader {
      return .damaged(DatabaseCondition.lockedWords)
    }
    switch try Schema.current.standing(of: &database) {
    case .damaged(let reason): return .damaged(reason)
    case .blank: return .damaged(DatabaseLoss.empty)
    case .ours(let version) where version < Schema.current.steps.count:
      throw StoreError(
        "check", path: layout.database, reason: "an older Spool wrote it",
        advice: "spool runs brings it up to date; then check it")
    case .ours, .newer: break
    }
    return .opened(database)
  }

  private var isUnborn: Bool {
    let (files, strays) = ArtifactFile.all(in: layout)
    let slots = BackupSlots(folder: layout.backups, files: self.files, schema: .current)
    return files.isEmpty && strays.isEmpty && records.isEmpty && slots.filled.isEmpty
  }

  private func databaseFinding(_ reason: String) -> InspectionFinding {
    let slots = BackupSlots(folder: layout.backups, files: files, schema: .current)
    return InspectionFinding(
      .database, layout.database, problem: DatabaseLoss.line(reason),
      meaning: "runs and checkpoints are not found in it; the next command makes it again from "
        + DatabaseLoss.source(slots.newestGood))
  }

  private func inspectBackups(_ report: inout InspectionReport) throws(StoreError) {
    let slots = BackupSlots(folder: layout.backups, files: files, schema: .current)
    for number in slots.filled {
      report.backups += 1
      do {
        try slots.examine(slots.path(number))
      } catch {
        report.findings.append(
          InspectionFinding(
            .damagedBackup, slots.path(number), subject: "\(number)",
            problem: "backup \(number) cannot be used: \(error.reason)",
            meaning: "the database cannot be restored from it; the other backups can be used"))
      }
    }
  }

  /// Throws unless something that looks like a store is there.
  static func requireStore(at layout: StoreLayout) throws(StoreError) {
    if layout.isThere { return }
    throw StoreError(
      "find a store", path: layout.root, reason: "there is no store at \(layout.root)",
      advice: "name the store's folder with --store; spool run makes one")
  }
}
