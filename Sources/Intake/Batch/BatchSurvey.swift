import PipelineModel
import Platform
import Store

extension BatchPlan {
  /// Sorts the files into those that are done and those to process.
  init(
    for finding: TreeWalk.Finding, _ order: BatchOrder, _ workplace: BatchEnvironment
  ) throws(SpoolError) {
    var survey = try BatchSurvey(order, workplace)
    if order.retriesFailedOnly { try survey.requireEarlierBatch() }
    self = try survey.sort(finding)
  }
}

/// Finds what was done before and is still valid, and names the exports of the rest.
private struct BatchSurvey {
  private let order: BatchOrder
  private let workplace: BatchEnvironment
  private let settings: Digest
  private var recalled: [ExactText: RecalledBatchEntry] = [:]
  private var repository: ReservedNames
  /// The recordings that are there no more and have their names still, in order of their names.
  private var absent: [BatchEntry] = []
  private var plan = BatchPlan()
  /// Of each recording whose words were corrected, a text that changes with its corrections; empty for a
  /// pipeline that writes no words.
  private let corrections: [String: String]
  /// The same of the transcripts that were corrected: corrections count for every file of a sound.
  private let transcriptCorrections: [String: String]

  init(_ order: BatchOrder, _ workplace: BatchEnvironment) throws(SpoolError) {
    self.order = order
    self.workplace = workplace
    settings = order.settings
    let writesWords = order.writesWords
    corrections = writesWords ? try workplace.store.corrections.versions() : [:]
    transcriptCorrections =
      writesWords ? try workplace.store.corrections.transcriptVersions() : [:]
    repository = ReservedNames { order.exports(called: $0) }
    // Records of the present identity take precedence over those of an earlier one.
    for identity in [order.earlierIdentity, order.identity].compactMap(\.self) {
      let entries = try workplace.store.batches.entries(of: identity, in: order.folder)
      for entry in entries { recalled[ExactText(entry.entry.path)] = entry }
    }
  }

  func requireEarlierBatch() throws(SpoolError) {
    guard recalled.isEmpty, try !wasBegun() else { return }
    throw SpoolError(
      "there is no earlier batch of \(order.definition.name) on \(order.folder)",
      reason: "\(option: .failed) does again what failed in it, and the file of its pipeline, its "
        + "folders and the store are what it is known by",
      advice:
        "leave \(option: .failed) out, or name the pipeline, the folders and the store of that "
        + "batch", kind: .usage)
  }

  /// Whether a batch of this folder and this pipeline was stopped before any file of it had ended.
  private func wasBegun() throws(SpoolError) -> Bool {
    try workplace.store.runs.open().contains {
      $0.batch?.folder == order.folder
        && [order.pipelinePath, order.namedPipelinePath].contains($0.pipelinePath)
    }
  }

  mutating func sort(_ finding: TreeWalk.Finding) throws(SpoolError) -> BatchPlan {
    plan.exportFolders = finding.exportFolders
    plan.skipped = finding.skipped
    for trouble in finding.troubles { plan.add(trouble) }
    reserveRecordings(finding.files)
    keepNamesOfAbsentFiles(finding.files)
    var pending: [Pending] = []
    for file in finding.files {
      try workplace.stop.check()
      let entry = recalled[ExactText(file.path)]
      if let done = entry?.entry, done.state == .done {
        plan.own(done.report, of: file.path, in: order.output)
      }
      let transcript = transcript(of: file)
      let sidecar = companionDigest(file, transcript)
      if let entry, isDone(entry, file, sidecar, transcript), repository.take(entry.entry.name) {
        plan.settled.append(
          BatchFileResult(
            path: file.path, outcome: .reused, mediaSeconds: entry.entry.mediaSeconds,
            report: entry.entry.report))
      } else if order.retriesFailedOnly, entry?.entry.state != .failed {
        if let entry { _ = repository.take(entry.entry.name) }
        plan.settled.append(
          BatchFileResult(
            path: file.path, outcome: .leftOut,
            report: entry?.entry.report ?? FileReport.json(path: file.path)))
      } else {
        pending.append((file, sidecar, transcript, kept: entry?.entry.name))
      }
    }
    try name(pending)
    return plan
  }

  /// A file to process, the digest of what lies beside it, its transcript, and the name of its
  /// earlier exports.
  private typealias Pending = (
    file: FoundFile, sidecar: Digest?, transcript: String?, kept: String?
  )

  /// An export never replaces a recording.
  private mutating func reserveRecordings(_ files: [FoundFile]) {
    let output = order.output + "/"
    let reserved = files.map { PathText.join(order.folder, $0.path) }
      .filter { $0.hasPrefix(output) }.map { String($0.dropFirst(output.count)) }
    for path in reserved { repository.reserve(path) }
  }

  /// Exports of removed recordings keep their names too: an emptied recorder starts again with the
  /// same file names.
  private mutating func keepNamesOfAbsentFiles(_ files: [FoundFile]) {
    let present = Set(files.map { ExactText($0.path) })
    // A renamed recording has the name now that it had before.
    let heirs = present.compactMap { recalled[$0]?.entry }
      .reduce(into: [ExactText: BatchEntry]()) { $0[ExactText($1.name)] = $1 }
    for (path, recalled) in recalled where !present.contains(path) {
      let entry = recalled.entry
      if let heir = heirs[ExactText(entry.name)], heir.recording == entry.recording { continue }
      guard entry.state == .done, repository.take(entry.name) else { continue }
      absent.append(entry)
    }
    absent.sort { PathText.isBefore($0.name, $1.name) }
  }

  private func isDone(
    _ recalled: RecalledBatchEntry, _ file: FoundFile, _ sidecar: Digest?, _ transcript: String?
  ) -> Bool {
    recalled.entry.state == .done && recalled.entry.settings == settings
      && recalled.entry.sidecar == sidecar
      && (file.sidecar == nil && transcript == nil || sidecar != nil)
      && (recalled.isCurrent || order.retriesFailedOnly && isUnchanged(file, recalled.entry))
  }

  /// Reads a file whose stamp is too young to tell.
  private func isUnchanged(_ file: FoundFile, _ entry: BatchEntry) -> Bool {
    entry.recording != nil && entry.recording == digest(of: file.path)
  }

  private func digest(of path: String) -> Digest? {
    try? workplace.store.digest(ofFile: PathText.join(order.folder, path)) {
      (_, _) throws(SpoolError) in try workplace.stop.check()
    }
  }

  /// Existing names are kept first, since their exports may exist; the rest is named by path.
  private mutating func name(_ pending: [Pending]) throws(SpoolError) {
    let wanted = try pending.map { (job) throws(SpoolError) in
      try workplace.stop.check()
      return wantedName(of: job.file)
    }
    var names: [String?] = zip(pending, wanted).map { file, wanted in
      guard let kept = file.kept, ReservedNames.isNumbered(kept, of: wanted), repository.take(kept)
      else {
        return nil
      }
      return kept
    }
    for index in names.indices where names[index] == nil {
      try workplace.stop.check()
      names[index] =
        inheritedName(of: pending[index], wanted[index]) ?? repository.assign(wanted[index])
    }
    plan.jobs = pending.indices.map { index in
      let job = pending[index]
      let name = names[index] ?? job.file.path
      return BatchPlan.Job(
        file: job.file, name: name, wantedName: name == wanted[index] ? nil : wanted[index],
        sidecar: job.sidecar, transcript: job.transcript)
    }
    for (file, job) in zip(pending, plan.jobs) {
      guard let kept = file.kept, ExactText(kept) != ExactText(job.name) else { continue }
      plan.earlierExports[job.file.path] = order.exports(called: kept).filter {
        !repository.isTaken($0)
          && workplace.store.byteCount(ofPublished: PathText.join(order.output, $0)) != nil
      }
    }
  }

  private func wantedName(of file: FoundFile) -> String {
    guard let template = order.template else { return PathText.join(file.folder, file.stem) }
    guard template.needsTags else { return template.fill(NameFields(path: file.path)) }
    // The sidecar's problems are reported when the file is processed.
    let sidecar = try? file.sidecar.map { (path) throws(SpoolError) in
      try SidecarSettings.read(path, of: order)
    }
    return template.fill(
      NameFields(
        path: file.path, sidecar: sidecar?.fields ?? [:],
        tags: workplace.tags(PathText.join(order.folder, file.path)) ?? [:]))
  }

  /// The path of a transcript below the batch's folder: what its sidecar names or holds, or what
  /// lies beside it. This store's own exports do not count: recognised words are no transcript.
  private func transcript(of file: FoundFile) -> String? {
    guard order.transcriptInput != nil else { return nil }
    // The sidecar's problems are reported when the file is processed.
    if let path = file.sidecar, let wishes = try? SidecarSettings.read(path, of: order) {
      let folder = PathText.folder(of: path)
      let place = wishes.sidecar.transcript { name in
        let full = PathText.join(order.folder, PathText.join(folder, name.description))
        return (try? FileOperations.system.beginning(of: full, byteCount: 1)) != nil
      }
      switch place {
      case .file(let name): return PathText.join(folder, name.description)
      case .itself: return path
      case .missing, nil: break
      }
    }
    return file.transcripts.first {
      workplace.store.byteCount(ofPublished: PathText.join(order.folder, $0)) == nil
    }
  }

  /// The digest of what lies beside a file, and of the corrections of its words; nil without any of
  /// them, or if something is unreadable.
  private func companionDigest(_ file: FoundFile, _ transcript: String?) -> Digest? {
    let companions = companionDigest(file.sidecar, transcript)
    guard companions != nil || file.sidecar == nil && transcript == nil,
      let version = correctionVersion(file)
    else { return companions }
    return SHA256.digest(of: "spool-corrected-1\n\(companions?.hex ?? "-")\n\(version)")
  }

  /// A text that changes with the corrections of a file's words: of those under its own digest, and of
  /// those that its last run has found, which may be under another file of the same sound. Nil without
  /// any.
  private func correctionVersion(_ file: FoundFile) -> String? {
    if corrections.isEmpty { return nil }
    let own = digest(of: file.path).flatMap { corrections[$0.hex] }
    let run = recalled[ExactText(file.path)].flatMap { recalled in
      try? BatchFileResult.Facts(jsonText: recalled.entry.report).run
    }.flatMap { try? workplace.store.runs.run(named: $0) }
    let found = (run?.steps ?? []).flatMap { step in
      step.outputs.values.compactMap { output in
        output.artifact.flatMap { transcriptCorrections[$0.digest.hex] }
      }
    }
    let versions = [own].compactMap(\.self) + Set(found).sorted()
    return versions.isEmpty ? nil : versions.joined(separator: " ")
  }

  /// The name of a recording that was here under another name; nil if there was none.
  private mutating func inheritedName(of job: Pending, _ wanted: String) -> String? {
    let namesakes = absent.filter { ReservedNames.isNumbered($0.name, of: wanted) }
    guard job.kept == nil, !namesakes.isEmpty, let own = digest(of: job.file.path),
      let former = namesakes.first(where: { $0.recording == own })
    else { return nil }
    absent.removeAll { $0 == former }
    return former.name
  }

  /// The digest of a sidecar and a transcript; nil without either, or if one is unreadable.
  private func companionDigest(_ sidecar: String?, _ transcript: String?) -> Digest? {
    guard let transcript else { return sidecar.flatMap(digest) }
    guard let text = digest(of: transcript) else { return nil }
    let other = sidecar.map { digest(of: $0)?.hex ?? "?" } ?? "-"
    return SHA256.digest(of: "spool-companions-1\n\(other)\n\(transcript)\n\(text.hex)")
  }
}

/// The names taken in the output folder. The second file that wants a name gets it with `-2`, the
/// third with `-3`; no export replaces another.
struct ReservedNames {
  /// The paths below the output folder of the exports under a name.
  private let exports: (String) -> [String]
  private var taken: Set<ExactText> = []
  /// The number to try next, by the name before it.
  private var next: [ExactText: Int] = [:]

  init(exports: @escaping (String) -> [String]) { self.exports = exports }

  /// Reserves a path below the output folder.
  mutating func reserve(_ path: String) { taken.insert(ExactText(path)) }

  /// Whether an export or a recording has a path below the output folder.
  func isTaken(_ path: String) -> Bool { taken.contains(ExactText(path)) }

  /// - Returns: whether it was free.
  mutating func take(_ name: String) -> Bool {
    let paths = exports(name).map(ExactText.init)
    guard taken.isDisjoint(with: paths) else { return false }
    taken.formUnion(paths)
    return true
  }

  /// Takes the wanted name or else the next free one. O(1) amortised.
  ///
  /// The names of exports are cut to what file systems take. Where that cuts the number off, the name
  /// before it gets shorter. Exports that no number tells apart, as of a fixed name, keep the wanted
  /// name: that they are in each other's way is found when they are written.
  mutating func assign(_ wanted: String) -> String {
    if take(wanted) { return wanted }
    var candidate = Optional(wanted)
    while let base = candidate {
      let first = next[ExactText(base)] ?? 2
      // Of so many names, one is free, unless some of them are the same.
      for number in first...first + taken.count {
        let name = "\(base)-\(number)"
        if exports(name) == exports("\(base)-\(number + 1)") { break }
        guard take(name) else { continue }
        next[ExactText(base)] = number + 1
        return name
      }
      candidate = Self.shortened(base)
    }
    return wanted
  }

  /// The name without its last character; nil if the file's name would be empty.
  private static func shortened(_ name: String) -> String? {
    let shorter = name.dropLast()
    return shorter.isEmpty || shorter.last == "/" ? nil : String(shorter)
  }

  /// Whether `name` is a possible result of `assign` for `wanted`.
  static func isNumbered(_ name: String, of wanted: String) -> Bool {
    if ExactText(name) == ExactText(wanted) { return true }
    guard let dash = name.lastIndex(of: "-") else { return false }
    let digits = name[name.index(after: dash)...].utf8
    guard !digits.isEmpty, digits.first != 48, digits.allSatisfy({ (48...57).contains($0) }) else {
      return false
    }
    let base = String(name[..<dash])
    return ExactText(base) == ExactText(wanted)
      || base.utf8.count > 100 && Array(wanted.utf8).starts(with: Array(base.utf8))
  }
}

/// A recording in a batch's folder.
struct FoundFile: Hashable, Sendable {
  /// Below the folder.
  let path: String
  let byteCount: Int
  /// Last write, in seconds since 1970.
  var modifiedAt = 0.0
  /// Its sidecar's path below the folder; nil if there is none.
  var sidecar: String?
  /// The paths of its possible transcripts below the folder, the likeliest first.
  var transcripts: [String] = []

  /// The path of its folder below the batch's; empty for the batch's own.
  var folder: String { PathText.folder(of: path) }
  var stem: String { PathText.stem(of: PathText.name(of: path)) }
}

/// The entries of a batch's folder that are no recordings: all are counted, many are named.
package struct SkippedFiles: Hashable, Sendable {
  package enum Reason: String, Hashable, Sendable, Codable, CaseIterable {
    /// A file whose ending is none of sound.
    case noRecording = "no-recording"
    /// A link to a folder, out of the batch's folder, or to nothing.
    case link
    /// A pipe, a socket or a device.
    case special
    case hidden
    /// Excluded by `--exclude`.
    case excluded
    /// The folder of a store: what is in it is Spool's own.
    case store
    /// An export of an earlier run of a recording in the same folder.
    case export
  }

  package struct Entry: Hashable, Sendable, Encodable {
    /// Its path below the folder, with invalid bytes replaced.
    package let path: String
    /// A lossless form of the path; nil if `path` is lossless.
    package let exactPath: String?
    package let reason: Reason
  }

  /// How many of each kind are named: a folder may hold a hundred thousand pictures.
  static let nameLimit = 1000

  package private(set) var counts: [Reason: Int] = [:]
  /// The first of each kind.
  package private(set) var entries: [Entry] = []

  mutating func add(_ path: String, _ bytes: [UInt8], _ reason: Reason) {
    let count = counts[reason, default: 0] + 1
    counts[reason] = count
    guard count <= Self.nameLimit else { return }
    let exact = PrintableText.escaped(bytes)
    entries.append(Entry(path: path, exactPath: exact == path ? nil : exact, reason: reason))
  }

  /// Sorts the entries by path.
  mutating func sort() { entries.sort { PathText.isBefore($0.path, $1.path) } }

  /// The counts by the reasons' names, for reports.
  package var namedCounts: [String: Int] {
    Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
  }
}
