import Glibc
internal import Hashing
public import PipelineModel

/// Puts a store right: makes a lost database again, and drops what is damaged so that it is made
/// anew when it is needed. Works on a store that no other process has open; telling what would be done
/// only looks, and needs neither that nor a store that may be written.
public struct Repair: Sendable {
  private let path: String
  private let options: Inspection.Options
  private let isDryRun: Bool
  private let files: FileOperations
  private let stop: StopRequest
  private let progress: @Sendable (InspectionProgress) -> Void

  /// Prepares to repair the store in the folder at `path`.
  /// - Parameters:
  ///   - isDryRun: whether to tell only what would be done.
  ///   - progress: called now and then from several threads while artifacts are read.
  public init(
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

  /// Repairs. Throws, and says who works there, if the store is not free; throws if a newer Spool
  /// has written it. Stopped or failed half-way, it can be begun again.
  public func run() throws(StoreError) -> RepairReport {
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
      // What lies in the artifacts is known already; only now is it known who names it.
      var quick = options
      quick.isQuick = true
      let second = try Inspection(of: path, quick, files: files, stop: stop).look()
      findings = findings.filter { $0.kind == .damagedArtifact } + second.findings
      report.findings += second.findings.filter { !report.findings.contains($0) }
    }
    var database = try Database(at: site.layout.database)
    let worker = RepairWork(site)
    // Damaged files first, since records are taken in only where their artifacts are there.
    for kind in InspectionFinding.Kind.allCases {
      for finding in findings where finding.kind == kind {
        if try worker.repair(finding, &database), let done = Self.intent(finding),
          !report.actions.contains(done)
        {
          report.actions.append(done)
        }
      }
    }
    return report
  }

  /// What is done about a finding; nil where nothing is.
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
