import PipelineModel
import Platform

/// Input files, each in the version whose bytes were identified, and the plugins that work on them. What
/// is read from a file belongs to its identity only while it is that version: work counts as done, and
/// progress as durable, only where `check` passes after the reading.
struct IdentifiedFiles: Sendable {
  private let stamps: [SourceFile: FileStamp]
  /// Steps, and the versions of what they work with.
  private var tools: [(step: BoundStep, libraries: [String: String])] = []

  init(_ stamps: [SourceFile: FileStamp]) { self.stamps = stamps }

  /// These, and what some steps work with as it is now.
  func and(_ steps: some Sequence<BoundStep>) -> IdentifiedFiles {
    var files = self
    files.tools = steps.map { ($0, $0.libraries) }
    return files
  }

  /// Those of these files.
  func of(_ files: some Sequence<SourceFile>) -> IdentifiedFiles {
    let files = Set(files)
    return IdentifiedFiles(stamps.filter { files.contains($0.key) })
  }

  /// Throws if a file or a plugin is another version now. A file's change time counts: the same bytes
  /// again do not tell what was read in between.
  func check() throws(SpoolError) {
    let changed = stamps.filter { (try? FileStamp(following: $0.key.path)) != $0.value }
    if let file = changed.keys.min(by: { $0.name < $1.name }) { throw Self.changed(file) }
    guard let (step, old) = tools.first(where: { $0.step.libraries != $0.libraries }) else {
      return
    }
    let now = step.libraries
    let name = Set(old.keys).union(now.keys).sorted().first { old[$0] != now[$0] }
    throw SpoolError(
      "the \(name ?? step.descriptor.kind) changed while the stage \(step.id) worked",
      reason: "what it has made may be of its old files and of its new ones",
      advice: "run it again: the stage is made anew", cause: .environment, kind: .changed)
  }

  private static func changed(_ file: SourceFile) -> SpoolError {
    if FilePath.obstacle(to: file.path)?.kind == .missing {
      return SpoolError(
        "\(file.name) is gone", reason: "it was moved, renamed or deleted while it was read",
        advice: "put it back and run it again, or run it where it is now", cause: .environment,
        kind: .changed)
    }
    return SpoolError(
      "\(file.name) changed while it was read",
      advice: "run it again when whatever writes it has finished, with \(option: .replace) if "
        + "exports of what it was are there",
      cause: .environment, kind: .changed)
  }
}

extension IdentifiedFiles {
  /// Reads a file's bytes, and finds the version that has them. Where the file was written a moment
  /// ago, waits until any later write shows in its stamp.
  /// - Parameter reading: as for `ExportFolder.digest`.
  static func identify(
    _ file: SourceFile, on runner: Runner,
    reading: (_ done: Int, _ of: Int) throws(SpoolError) -> Void
  ) throws(SpoolError) -> (digest: Digest, stamp: FileStamp) {
    func now() -> Int64 { Int64(runner.clock.now * 1e9) }
    func stamp() -> FileStamp? { try? FileStamp(following: file.path) }
    if let wait = stamp()?.settlingTime(at: now()), wait > 0 {
      // Clocks round.
      runner.clock.sleep(Double(wait + 1_000_000) / 1e9, unless: runner.stop)
      try runner.stop.check()
    }
    let before = stamp()
    let digest = try runner.exportFolder.digest(ofFile: file.path, reading: reading)
    guard let before, before == stamp(), before.settlingTime(at: now()) == 0 else {
      throw changed(file)
    }
    return (digest, before)
  }
}

/// A claim on work that reads files: nothing is recorded or committed once one of them has changed,
/// so that what an earlier process left is of the identified bytes, however that process ended.
final class FileCheckingClaim: WorkClaim {
  private let claim: any WorkClaim
  private let files: IdentifiedFiles

  init(_ claim: any WorkClaim, reading files: IdentifiedFiles) {
    self.claim = claim
    self.files = files
  }

  func record(_ text: String) throws(SpoolError) {
    try files.check()
    try claim.record(text)
  }

  func commit(_ checkpoints: [Checkpoint]) throws(SpoolError) {
    try files.check()
    try claim.commit(checkpoints)
  }

  var folder: String { claim.folder }
  var heldByteCount: Int { claim.heldByteCount }
  var lostSeconds: Double? { claim.lostSeconds }
  var spentSeconds: Double { claim.spentSeconds }
  var loss: RestartReason? { claim.loss }
  func lastEntry() throws(SpoolError) -> JournalEntry? { try claim.lastEntry() }
  func makeDraft(_ name: String, _ kind: ArtifactKind) throws(SpoolError) -> ArtifactDraft {
    try claim.makeDraft(name, kind)
  }
  func resumeDraft(
    _ name: String, _ kind: ArtifactKind, _ prefix: DraftPrefix
  ) throws(SpoolError) -> ArtifactDraft? { try claim.resumeDraft(name, kind, prefix) }
  func end() { claim.end() }
  func release() { claim.release() }
}
