import PipelineEngine
import PipelineModel
import Platform
import Proof
import Store

extension Command {
  /// `spool store prune`: deletes superseded exports.
  static let prune = Command(
    name: "store prune", group: "Care",
    summary: "Delete exports that no run's latest result claims.",
    discussion: """
      An export is superseded if a later run of the same recording and pipeline, with the same --set, \
      exported into the same folder under another name, as after a new title or --name, or if the run \
      that made it was given up. A copy of a recording beside it, and a run with other --set, are works \
      of their own.

      It deletes only files with the bytes that Spool wrote. What a receipt covers stays, unless \
      --covered is given; receipts and the files beside them always stay. Exports that a run which is \
      not finished may claim stay too, those whose replacement is gone or was changed since, and those \
      that have none, because the later run exported no file of their format. What was deleted is \
      exported again by the same run as before.

      Before a file in a bag is deleted, its bagit.txt is, as it is no whole bag any more; a bag of \
      another program is left alone.
      """,
    options: [Options.covered, Options.dryRun, Options.store, Options.json],
    examples: [
      Example("What would be deleted, and why", "spool store prune --dry-run"),
      Example("Delete it", "spool store prune"),
    ],
    perform: CommandContext.pruneExports)
}

extension Options {
  fileprivate static let covered = Option<Bool>.flag(
    "covered", help: "Delete exports that a receipt covers too, which verify then finds missing.")
  fileprivate static let dryRun = Option<Bool>.flag(
    "dry-run", short: "n", help: "Only say what would be deleted, and why.")
}

extension CommandContext {
  fileprivate func pruneExports() throws(SpoolError) -> ExitCode {
    try requireStore()
    let isDryRun = arguments[Options.dryRun]
    // A dry run works on a read-only or full disk, too.
    let store = isDryRun ? try existingStore() : try openStore()
    let report = try store.prune(
      includesCovered: arguments[Options.covered], isDryRun: isDryRun,
      seal: Bag.declaration(around:))
    answer(report, text(report))
    return .done
  }

  private func text(_ report: PruneReport) -> String {
    var lines = report.files.map(Self.line)
    let verb = report.isDryRun ? "would delete" : "deleted"
    lines.append(
      report.files.isEmpty
        ? "nothing to delete: every export is the latest of its recording, pipeline and --set"
        : "\(verb) \(Count.of(report.files.count, "export")), \(ByteCount(report.freedBytes))")
    if !report.seals.isEmpty {
      lines += ["", "no whole bags any more, so without their declarations:"]
      lines += report.seals.map { "  \($0)" }
    }
    if !report.kept.isEmpty {
      if report.files.isEmpty { lines = ["nothing to delete"] }
      lines += ["", "superseded, but kept:"] + report.kept.map(Self.line)
    }
    return Format.visible(lines: lines)
  }

  /// `  3.1 MB  /out/a.wav: replaced by b.wav of run 20261125-190944-5f65`.
  private static func line(_ file: PruneReport.File) -> String {
    let size = Format.padLeft(ByteCount(file.byteCount).description, 9)
    let name = file.replacement?.pathNames.last
    let why =
      switch file.reason {
      case .replaced where file.obstacle == .notExported:
        "run \(file.run ?? "") of the same recording and pipeline is later"
      case .replaced: "replaced by \(name ?? "the exports") of run \(file.run ?? "")"
      case .unclaimed:
        file.obstacle == .unfinished ? "its run has not ended" : "its run was given up"
      }
    let obstacle =
      switch file.obstacle {
      case .changed: "; it was changed since Spool wrote it"
      case .receipt: "; a receipt covers it"
      case .unfinished:
        "; a run that failed or is not finished may claim it, until the same is run again, with "
          + "--replace where another file is in the way"
      case .alone: "; but that is gone, or was changed since"
      case .sealed: "; it lies in a bag that Spool did not make"
      case .queued: "; it is on its way to a destination"
      case .notExported: ", but exported nothing in its place"
      case nil: ""
      }
    return "\(size)  \(file.path): \(why)\(obstacle)"
  }
}
