import Glibc
import PipelineModel
package import Platform

/// The superseded exports of a store; without a dry run, those that were deleted.
package struct PruneReport: Hashable, Sendable, Codable {
  /// Why an export is superseded.
  package enum Reason: String, Hashable, Sendable, Codable {
    /// A later run of the same recording and pipeline exported under another name.
    case replaced
    /// No finished run exported it: its run was given up.
    case unclaimed
  }

  /// Why a superseded export stays.
  package enum Obstacle: String, Hashable, Sendable, Codable {
    /// Its bytes are not those that Spool wrote.
    case changed
    /// A receipt covers it, or it is a receipt's own file.
    case receipt
    /// A run of its recording and pipeline is not finished, and may claim it.
    case unfinished
    /// What took its place is gone, or not as Spool wrote it: it may be the last one.
    case alone
    /// The later run exported nothing in its place, such as no file of its format.
    case notExported
    /// It lies in a sealed folder that Spool did not make, such as another program's bag.
    case sealed
    /// It is on its way to a destination.
    case queued
  }

  package struct File: Hashable, Sendable, Codable {
    /// An absolute path.
    package let path: String
    /// Length in bytes.
    package let byteCount: Int
    package let reason: Reason
    /// The run that replaced it; nil if there is none.
    package let run: String?
    /// The file that took its place; nil if unknown.
    package let replacement: String?
    /// Why it stays; nil if it does not.
    package fileprivate(set) var obstacle: Obstacle?
  }

  /// The superseded exports that go, the largest first.
  package fileprivate(set) var files: [File] = []
  /// Those that stay.
  package fileprivate(set) var kept: [File] = []
  /// The seals that go first, as their folders are incomplete then: the declarations of bags.
  package fileprivate(set) var seals: [String] = []
  /// Bytes that go.
  package fileprivate(set) var freedBytes = 0
  package let isDryRun: Bool
}

extension DiskStore {
  /// Deletes exports that no run's latest result claims, if they are as Spool wrote them.
  /// O(runs + exports), and reads those whose digest is known.
  /// - Parameters:
  ///   - includesCovered: whether exports that a receipt covers go as well; the receipt's own files
  ///     always stay.
  ///   - seal: the file that says that the folder around a path is complete; nil if there is none. It
  ///     is removed before a file in the folder is.
  package func prune(
    includesCovered: Bool, isDryRun: Bool, seal: (_ path: String) -> String? = { _ in nil }
  ) throws(SpoolError) -> PruneReport {
    let claims = ExportClaims(try runs.everyRun()) { FilePath.exists($0) }
    let (exports, queued) = try withDatabase { (database) throws(SpoolError) in
      (try KnownFileTables.all(in: &database), try DeliveryQueue.wantedPaths(in: &database))
    }
    // What a run has read is a recording or a text of the user's, wherever it came from.
    let read = Set(try runs.inputPaths())
    let receipts = Set(exports.compactMap(\.published.receipt))
    var report = PruneReport(isDryRun: isDryRun)
    for export in exports where !read.contains(export.path) {
      guard let stamp = try? FileStamp(at: export.path), stamp.isRegularFile,
        let ruling = claims.ruling(on: export.path, export.published)
      else { continue }
      var file = PruneReport.File(
        path: export.path, byteCount: Int(stamp.byteCount), reason: ruling.reason,
        run: ruling.run?.id.name, replacement: ruling.successor?.path)
      let isProof = ruling.isProof || receipts.contains(export.path)
      if isProof || (ruling.receipts.contains(where: FilePath.exists) && !includesCovered) {
        file.obstacle = .receipt
      } else if ruling.isUnfinished {
        file.obstacle = .unfinished
      } else if queued.contains(export.path) {
        file.obstacle = .queued
      } else if !isUnchanged(export, stamp, digest: ruling.digest) {
        file.obstacle = .changed
      } else if ruling.reason == .replaced {
        file.obstacle = ruling.successor.map { isThere($0) ? nil : .alone } ?? .notExported
      }
      let seal = file.obstacle == nil ? seal(export.path) : nil
      if let seal, !report.seals.contains(seal) {
        if try published(at: seal) == nil {
          file.obstacle = .sealed
        } else {
          if !isDryRun { try withdraw(seal, isReplacing: false) }
          report.seals.append(seal)
        }
      }
      if file.obstacle == nil, !isDryRun { try delete(export, stamp) }
      if file.obstacle == nil {
        report.freedBytes += file.byteCount
        report.files.append(file)
      } else {
        report.kept.append(file)
      }
    }
    report.files.sort { ($1.byteCount, $0.path) < ($0.byteCount, $1.path) }
    return report
  }

  /// Whether a file has the bytes that Spool wrote: by their digest or, where that is unknown, by
  /// the stamp, which every change changes.
  private func isUnchanged(
    _ export: KnownFileTables.Export, _ stamp: FileStamp, digest: Digest?
  ) -> Bool {
    guard let digest else { return export.hasStamp(stamp) }
    do {
      let file = try files.open(export.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      return try files.digest(of: file).digest == digest
    } catch {
      return false
    }
  }

  /// Whether a published file is there as Spool wrote it.
  private func isThere(_ file: PublishedFile) -> Bool {
    guard let stamp = try? FileStamp(at: file.path), stamp.isRegularFile else { return false }
    guard let digest = file.digest else { return (try? published(at: file.path)) != nil }
    return (try? self.digest(ofFile: file.path)) == digest
  }

  private func delete(
    _ export: KnownFileTables.Export, _ stamp: FileStamp
  ) throws(SpoolError) {
    // A file that was replaced since it was looked at stays.
    guard (try? FileStamp(at: export.path)) == stamp else { return }
    try doing("delete", export.path) { () throws(SystemError) in
      try files.unlinkIfThere(export.path)
    }
    try withDeferringDatabase(to: "record a deleted file in") { (database) throws(SpoolError) in
      try KnownFileTables.forget(export.path, in: &database)
    }
  }
}

extension RunRecord {
  /// The folder of the user's choice for its exports: a batch's names may add folders to it.
  fileprivate var outputFolder: String? { batch?.output ?? request?.folder }

  /// Whether a path lies in its output folder, or that is unknown.
  fileprivate func mayWrite(at path: String) -> Bool {
    outputFolder.map { path.hasPrefix($0 == "/" ? $0 : $0 + "/") } ?? true
  }

  /// Whether it has exported a file of this name in another folder.
  fileprivate func exports(called path: String) -> Bool {
    published.contains { $0.path.pathNames.last == path.pathNames.last }
  }

  /// The paths of its sound, by input; of all inputs where none is known to be sound.
  fileprivate var soundFiles: [String: String] {
    guard let soundInputs, !soundInputs.isEmpty else { return inputs }
    return inputs.filter { soundInputs.contains($0.key) }
  }

  /// The user's `--set`: a sidecar's belong to its recording, and change with it.
  fileprivate var ownOverrides: [String: String] { batch?.overrides ?? overrides }
}

/// Which exports the latest results claim. A pure value.
struct ExportClaims {
  /// What is to be said of a superseded export.
  struct Ruling {
    let reason: PruneReport.Reason
    /// The run that replaced it.
    var run: RunRecord?
    /// What took its place, and must be there before it may go; nil if the run exported no such file.
    var successor: PublishedFile?
    /// The SHA-256 of its bytes; nil if unknown.
    var digest: Digest?
    /// Whether it is a receipt or belongs to one.
    var isProof = false
    /// The receipts that may cover it.
    var receipts: [String] = []
    /// Whether a run that is not finished may claim it.
    var isUnfinished = false
  }

  /// The last recorded one first.
  private let runs: [RunRecord]
  private let exists: (String) -> Bool
  /// The last finished run that exported each file.
  private var makers: [String: Int] = [:]
  /// The runs of each recording, by its path and by its digest in hexadecimal digits.
  private var users: [String: [Int]] = [:]

  /// O(n) in runs and their exports.
  /// - Parameters:
  ///   - runs: the last recorded one first.
  ///   - exists: whether there is a recording at a path.
  init(_ runs: [RunRecord], exists: @escaping (String) -> Bool) {
    self.runs = runs
    self.exists = exists
    for (index, run) in runs.enumerated() {
      for name in Set(run.inputs.values).union((run.recordings ?? [:]).values.map(\.hex)) {
        users[name, default: []].append(index)
      }
      guard run.state == .done else { continue }
      for file in run.published where makers[file.path] == nil { makers[file.path] = index }
    }
  }

  /// Why an export is superseded; nil if a latest result claims it, and if its recording or pipeline
  /// is unknown, or no run of them.
  func ruling(on path: String, _ published: KnownFileTables.Published) -> Ruling? {
    guard let recording = published.recording, let pipeline = published.pipeline else { return nil }
    let related = Set(users[recording.digest.hex, default: []] + users[recording.path, default: []])
      .sorted().filter { runs[$0].pipeline == pipeline }
    guard !related.isEmpty else { return nil }
    let unfinished = related.contains { index in
      let run = runs[index]
      // One with another output folder writes nothing here.
      guard run.mayWrite(at: path) else { return false }
      let isRepeated = related.contains {
        $0 < index && runs[$0].state == .done && runs[$0].outputFolder == run.outputFolder
      }
      return switch run.state {
      case .running: true
      case .cutOff, .interrupted, .paused: !run.isSettled(by: runs[..<index])
      case .failed: !isRepeated
      case .done, .refused, .dropped: false
      }
    }
    let receipts = published.receipt.map { [$0] } ?? []
    guard let made = makers[path] else {
      // A copy elsewhere, which the user has made, is the user's, and so is a folder that was moved: a
      // finished run has made what a later one has found there.
      guard related.contains(where: { runs[$0].mayWrite(at: path) }),
        !related.contains(where: { runs[$0].state == .done && runs[$0].exports(called: path) })
      else { return nil }
      return Ruling(reason: .unclaimed, receipts: receipts, isUnfinished: unfinished)
    }
    let maker = runs[made]
    guard let file = maker.published.first(where: { $0.path == path }),
      let later = related.first(where: {
        $0 < made && runs[$0].state == .done && isRepetition(runs[$0], of: maker)
      })
    else { return nil }
    let proofs = maker.published.filter { $0.leaf != nil }
    let successor = Self.successor(of: file, from: maker.published, in: runs[later].published)
    return Ruling(
      reason: .replaced, run: runs[later], successor: successor, digest: file.digest,
      isProof: proofs.contains { $0 == file || ($0.step == file.step && file.port == nil) },
      // A later run's receipt of the same name states other files.
      receipts: receipts + proofs.map(\.path).filter { makers[$0] == made },
      isUnfinished: unfinished)
  }

  /// Whether a run did the same as an earlier one, so that its exports take the place of that one's:
  /// the same recordings, pipeline and overrides, into the same folder. Copies of a recording beside
  /// each other, and runs with other overrides, are works of their own.
  private func isRepetition(
    _ later: RunRecord, of earlier: RunRecord
  ) -> Bool {
    // A text that came later, or is there no more, makes no other work.
    let (sounds, own) = (later.soundFiles, earlier.soundFiles)
    // Another pipeline may have found its export there, with equal bytes.
    guard later.pipeline == earlier.pipeline, later.outputFolder == earlier.outputFolder,
      later.ownOverrides == earlier.ownOverrides, sounds.count == own.count
    else { return false }
    // The settings of a quick command are its pipeline, which is no file, and its user names the files.
    if !earlier.pipelinePath.hasPrefix("/"),
      earlier.request?.pipelineText != later.request?.pipelineText
    {
      return false
    }
    var isSameSound = true
    for (name, path) in own {
      let (before, now) = (earlier.recordings?[name], later.recordings?[name])
      let isSame = before != nil && before == now
      guard let other = sounds[name], other == path || (isSame && !exists(path)) else {
        return false
      }
      isSameSound = isSameSound && isSame
    }
    if isSameSound { return true }
    return Self.sound(of: earlier).map { $0 == Self.sound(of: later) } ?? false
  }

  /// What the run's sources put out, by step: a retagged recording has other bytes, and the same
  /// sound. Nil if unknown.
  private static func sound(of run: RunRecord) -> [StepID: [PortName: Digest]]? {
    guard let kind = run.steps.first?.kind else { return nil }
    let sources = run.steps.filter { $0.kind == kind }
    guard sources.allSatisfy({ !$0.outputs.isEmpty }) else { return nil }
    return Dictionary(
      sources.map { ($0.id, $0.outputs.mapValues(\.identity)) }, uniquingKeysWith: { $1 })
  }

  /// What took the place of an export: the file of its step and port, or the only one that no other
  /// file of the earlier run is followed by, as a step may have got another name. What the earlier run
  /// wrote beside it took nothing's place. Nil if there is none.
  private static func successor(
    of file: PublishedFile, from earlier: [PublishedFile], in later: [PublishedFile]
  ) -> PublishedFile? {
    func isAlike(_ other: PublishedFile) -> Bool {
      other.leaf == nil && suffix(other.path) == suffix(file.path)
    }
    func isFromSame(_ one: PublishedFile, _ other: PublishedFile) -> Bool {
      one.step == other.step && one.port == other.port
    }
    let known = Set(earlier.map(\.path))
    let new = later.filter { isAlike($0) && !known.contains($0.path) }
    let same = new.filter { isFromSame($0, file) }
    if !same.isEmpty { return same.count == 1 ? same[0] : nil }
    let others = new.filter { candidate in !earlier.contains { isFromSame($0, candidate) } }
    let left = earlier.filter { one in
      isAlike(one) && !later.contains { isFromSame($0, one) || $0.path == one.path }
    }
    return others.count == 1 && left == [file] ? others[0] : nil
  }

  private static func suffix(_ path: String) -> Substring {
    path[(path.lastIndex(of: ".") ?? path.endIndex)...]
  }
}
