import Sidecars
import Hashing
import PipelineModel

/// Looks at every file of a batch: what was done before and still holds, and what the rest is to be
/// called.
struct BatchSurvey {
  private let order: BatchOrder
  private let workplace: BatchWorkplace
  private let settings: Digest
  private var recalled: [ExactText: RecalledBatchEntry] = [:]
  private var ledger: NameLedger
  private var plan = BatchPlan()

  init(_ order: BatchOrder, _ workplace: BatchWorkplace) throws(StoreError) {
    self.order = order
    self.workplace = workplace
    settings = order.settings
    ledger = NameLedger { order.exports(called: $0) }
    // What is remembered by the present identity stands above what an earlier one left.
    for identity in [order.earlierIdentity, order.identity].compactMap(\.self) {
      let entries = try workplace.store.entries(of: identity, in: order.folder)
      for entry in entries { recalled[ExactText(entry.entry.path)] = entry }
    }
  }

  /// Sorts the files into those that are done and those to work on.
  mutating func sort(_ finding: TreeWalk.Finding) -> BatchPlan {
    plan.exportFolders = finding.exportFolders
    plan.skipped = finding.skipped
    for trouble in finding.troubles { add(trouble) }
    reserveRecordings(finding.files)
    keepNamesOfAbsentFiles(finding.files)
    var pending: [Pending] = []
    for file in finding.files {
      let entry = recalled[ExactText(file.path)]
      let transcript = BatchTranscript.path(of: file, order, workplace)
      let sidecar = BatchTranscript.digest(file.sidecar, transcript) { digest(of: $0) }
      if let entry, isDone(entry, file, sidecar, transcript), ledger.take(entry.entry.name) {
        plan.settled.append(
          BatchFileResult(
            path: file.path, outcome: .reused, mediaSeconds: entry.entry.mediaSeconds,
            report: entry.entry.report))
      } else if order.retriesFailedOnly, entry?.entry.state != .failed {
        if let entry { _ = ledger.take(entry.entry.name) }
        plan.settled.append(
          BatchFileResult(
            path: file.path, outcome: .leftOut,
            report: entry?.entry.report ?? FileReport(path: file.path).json))
      } else {
        pending.append(Pending(file, sidecar, transcript, kept: entry?.entry.name))
      }
    }
    name(pending)
    return plan
  }

  /// A file to work on.
  private struct Pending {
    let file: FoundFile
    let sidecar: Digest?
    let transcript: String?
    /// The name that it had.
    let kept: String?

    init(_ file: FoundFile, _ sidecar: Digest?, _ transcript: String?, kept: String?) {
      self.file = file
      self.sidecar = sidecar
      self.transcript = transcript
      self.kept = kept
    }
  }

  private mutating func add(_ trouble: TreeWalk.Trouble) {
    let error = StageError(
      "cannot take \(trouble.path)", reason: trouble.reason, advice: trouble.advice)
    let failure = BatchFileResult.Failure(error)
    plan.settled.append(
      BatchFileResult(
        path: trouble.path, outcome: .failed, failure: failure,
        report: FileReport(path: trouble.path, exactPath: trouble.exactPath, failure: failure).json)
    )
  }

  /// An export never takes the place of a recording.
  private mutating func reserveRecordings(_ files: [FoundFile]) {
    let output = order.output + "/"
    let reserved = files.map { PathText.join(order.folder, $0.path) }
      .filter { $0.hasPrefix(output) }.map { String($0.dropFirst(output.count)) }
    for path in reserved { ledger.reserve(path) }
  }

  /// What was made of recordings that are no longer there is not replaced either: a recorder that
  /// was emptied begins again with the names it had.
  private mutating func keepNamesOfAbsentFiles(_ files: [FoundFile]) {
    let present = Set(files.map { ExactText($0.path) })
    for (path, recalled) in recalled where !present.contains(path) {
      if recalled.entry.state == .done { _ = ledger.take(recalled.entry.name) }
    }
  }

  private func isDone(
    _ recalled: RecalledBatchEntry, _ file: FoundFile, _ sidecar: Digest?, _ transcript: String?
  ) -> Bool {
    recalled.isCurrent && recalled.entry.state == .done && recalled.entry.settings == settings
      && recalled.entry.sidecar == sidecar
      && (file.sidecar == nil && transcript == nil) == (sidecar == nil)
  }

  private func digest(of path: String) -> Digest? {
    try? workplace.store.digest(ofFile: PathText.join(order.folder, path))
  }

  /// Names first keep those that have them, since their exports may be there already; the rest is
  /// named in the order of the paths.
  private mutating func name(_ pending: [Pending]) {
    let wanted = pending.map { wantedName(of: $0.file) }
    var names: [String?] = zip(pending, wanted).map { file, wanted in
      guard let kept = file.kept, NameLedger.isNumbered(kept, of: wanted), ledger.take(kept) else {
        return nil
      }
      return kept
    }
    for index in names.indices where names[index] == nil {
      names[index] = ledger.assign(wanted[index])
    }
    plan.jobs = pending.indices.map { index in
      let job = pending[index]
      let name = names[index] ?? job.file.path
      return BatchPlan.Job(
        file: job.file, name: name, wantedName: name == wanted[index] ? nil : wanted[index],
        sidecar: job.sidecar, transcript: job.transcript)
    }
  }

  private func wantedName(of file: FoundFile) -> String {
    guard let template = order.template else {
      return PathText.join(file.folder, file.stem)
    }
    guard template.needsTags else { return template.fill(NameFields(path: file.path)) }
    // What is wrong with the sidecar is said when the file's turn comes.
    let sidecar = try? file.sidecar.map { (path) throws(StageError) in
      try SidecarFile.read(path, of: order)
    }
    return template.fill(
      NameFields(
        path: file.path, sidecar: sidecar?.fields ?? [:],
        tags: workplace.tags(PathText.join(order.folder, file.path)) ?? [:]))
  }
}
