import PipelineModel
import Platform
import Store
import Synchronization

extension InboxProcessor {
  /// Brings the outbox and the inbox into line with the store: writes outdated acknowledgements and
  /// answers, releases files of uploaded and quarantined recordings, and writes the snapshot of all
  /// current recordings at most once a second.
  ///
  /// While an acknowledgement cannot be written, the files that it is of stay in the inbox.
  ///
  /// Call it after every change, and periodically for changes by other processes. Without changes
  /// it costs a few index look-ups.
  func settle() -> Report {
    tracker.withLock { state in
      var report = Report()
      attempt(&report) { (report) throws(SpoolError) in try followCopies(&state.copies, &report) }
      attempt(&report) { (report) throws(SpoolError) in try acknowledge(&report) }
      attempt(&report) { (report) throws(SpoolError) in try release(&state, &report) }
      if report.isAnyForgotten {
        attempt(&report) { (_) throws(SpoolError) in try withLockedInbox(takeBackUnknown) }
      }
      attempt(&report) { (report) throws(SpoolError) in try takeSnapshot(&state, &report) }
      return report
    }
  }

  /// Repairs what a dead process left: recordings in progress become due again, and missing files
  /// of the outbox are written again. Called once before the inbox is watched.
  func reconcile() -> Report {
    var recovered: [Recording] = []
    var report = Report()
    attempt(&report) { (_) throws(SpoolError) in
      recovered = try store.recordings.recover(pipeline: pipeline)
    }
    attempt(&report) { (_) throws(SpoolError) in try checkOutbox() }
    attempt(&report) { (_) throws(SpoolError) in
      // Nothing to sweep if there is no inbox yet.
      try withLockedInbox { (folder) throws(SpoolError) in
        try folder.sweep()
        try takeBackUnknown(in: folder)
      }
    }
    report.problems.removeAll { $0.kind == .missing }
    var settled = settle()
    settled.recovered = recovered
    settled.problems = report.problems + settled.problems
    return settled
  }

  /// Gives files their names back that lie aside for deletion, and of which the store knows nothing: their
  /// recordings were forgotten, or a store that is lost since, or was restored, had put them there.
  /// O(files).
  private func takeBackUnknown(in folder: borrowing ProcessedFolder) throws(SpoolError) {
    let names = UntouchedNames()
    var aside: [(path: InboxPath, original: InboxPath)] = []
    try InboxFolder(at: inbox).visitFolders { folder, name, stamp in
      guard let stamp else { return names.reason(for: name, in: folder, isFolder: true) == nil }
      return stamp.isRegularFile && name.bytes.starts(with: ".spool-".utf8)
    } visit: { folder, files in
      aside += files.keys.map(folder.appending).compactMap { path in
        ReleaseName.original(ofAside: path).map { (path, $0) }
      }
    }
    for (path, original) in aside
    where try !store.recordings.isTarget(path.escaped, inbox: inbox) {
      try putBack(path, to: original, in: folder)
    }
  }

  private func attempt(
    _ report: inout Report, _ work: (inout Report) throws(SpoolError) -> Void
  ) {
    do throws(SpoolError) {
      try work(&report)
    } catch {
      report.problems.append(error)
    }
  }

  /// Runs an action in the inbox, under its lock.
  private func withLockedInbox(
    _ work: (borrowing ProcessedFolder) throws(SpoolError) -> Void
  ) throws(SpoolError) {
    let folder = try inboxFolder()
    let lock = try lockInbox(folder)
    try work(folder)
    _ = lock.path
  }

  /// Removes acknowledgements of recordings that no longer exist.
  /// - Returns: whether there were any.
  private func retract() throws(SpoolError) -> Bool {
    let names = try store.recordings.retractedNames(pipeline: pipeline)
    if names.isEmpty { return false }
    for outbox in [post.path] + post.others {
      let folder = try outboxFolder(at: outbox)
      let lock = try folder.lock()
      defer { _ = lock.path }
      for name in names { try folder.remove(AcknowledgementName.acknowledgement(name)) }
      try folder.flushFolder(.inbox)
    }
    try store.recordings.markRetracted(names, pipeline: pipeline)
    return true
  }

  private func acknowledge(_ report: inout Report) throws(SpoolError) {
    if try retract() { report.isAnyForgotten = true }
    guard try owesWords() else { return }
    while true {
      let recordings = try store.recordings.unacknowledged(pipeline: pipeline, limit: 200)
      if recordings.isEmpty { break }
      let claims = try store.recordings.claims(pipeline: pipeline)
      var words: [(path: InboxPath, text: String)] = []
      let expected =
        recordings.contains { $0.state == .uploading } ? try store.deliveries.expectations() : [:]
      for recording in recordings {
        let names = try store.recordings.acknowledgementNames(of: recording)
        let damage = try damage(of: recording)
        let copies = try store.deliveries.copies(of: recording.original ?? recording.key)
        words += names.map {
          (
            AcknowledgementName.acknowledgement($0),
            AcknowledgementText.acknowledgement(
              of: recording, named: $0, aliases: Array(names.dropFirst()),
              claimants: claims[recording.key] ?? [], damage: damage, copies: copies,
              expected: expected[recording.original ?? recording.key])
          )
        }
      }
      try publish(words)
      report.acknowledgements += words.count
      let revisions = Dictionary(
        recordings.map { ($0.key, $0.revision) }, uniquingKeysWith: { first, _ in first })
      try store.recordings.markAcknowledged(revisions)
    }
    let results = try store.recordings.unansweredCommands(pipeline: pipeline, limit: 1000)
    if results.isEmpty { return }
    try publish(
      results.map { (AcknowledgementName.answer(to: $0.id), AcknowledgementText.answer(to: $0)) })
    report.answers += results.count
    report.decidedLate += results.filter { $0.isDecidedLate && $0.status != .waiting }
    try store.recordings.markAnswered(results.map(\.id), pipeline: pipeline)
  }

  /// What its run has found damaged; nothing before it is uploaded.
  private func damage(of recording: Recording) throws(SpoolError) -> [String: RecordingDamage] {
    guard recording.state == .uploaded else { return [:] }
    return try store.runs.lastRun(of: recording.content.digest, pipeline: pipeline)?.damage ?? [:]
  }

  /// Writes files into each of the pipeline's outboxes. An unwritable one does not affect the
  /// others, and gets everything it missed later.
  private func publish(_ words: [(path: InboxPath, text: String)]) throws(SpoolError) {
    var failure: SpoolError?
    for outbox in [post.path] + post.others {
      do throws(SpoolError) {
        let folder = try outboxFolder(at: outbox)
        let lock = try folder.lock()
        defer { _ = lock.path }
        for (path, text) in words { try folder.write(text, to: path) }
        try folder.flushFolder(.inbox)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func owesWords() throws(SpoolError) -> Bool {
    let recordings = try store.recordings.unacknowledged(pipeline: pipeline, limit: 1)
    if !recordings.isEmpty { return true }
    return try !store.recordings.unansweredCommands(pipeline: pipeline, limit: 1).isEmpty
  }

  private func release(
    _ state: inout State, _ report: inout Report
  ) throws(SpoolError) {
    let now = store.recordings.now
    // A new file may have the number of a forgotten one.
    if report.isAnyForgotten { (state.troubled, state.aside) = ([:], [:]) }
    state.troubled = state.troubled.filter { $0.value.end > now }
    report.problems += state.troubled.values.compactMap(\.trouble)
    let files = try store.recordings.heldFiles(inbox: inbox, limit: 500 + state.troubled.count)
    // What came with a recording is called like it, and leaves after it.
    let held =
      (files.filter { $0.file.role == .recording }
      + files.filter { $0.file.role != .recording }).filter { state.troubled[$0.file.id] == nil }
    var late = Set(
      files.filter { $0.file.role == .recording && state.troubled[$0.file.id]?.trouble != nil }
        .map(\.recording.key))
    if let next = state.troubled.values.map(\.end).min() { report.nextCall = max(0, next - now) }
    if held.isEmpty { return }
    let folder = try inboxFolder()
    let lock = try lockInbox(folder)
    defer { _ = lock.path }
    let unacknowledged = try unacknowledged(report)
    for held in held
    where !unacknowledged.contains(held.recording.key)
      || freesRoom(Self.goal(of: held, keep: rules.keep))
    {
      if held.file.role != .recording, late.contains(held.recording.key) {
        state.troubled[held.file.id] = (now + Self.troublePause, nil)
        continue
      }
      do throws(SpoolError) {
        let asideSince = state.aside[held.file.id]
        let asideFor = asideSince.map { max(0, now - $0) }
        if let found = try confirmation(held) { report.confirmed.append(found) }
        switch try release(held, in: folder, asideFor: asideFor) {
        case .released(let place, let path):
          state.aside[held.file.id] = nil
          report.released.append(Release(held, place, at: path))
        case .later(let pause):
          state.aside[held.file.id] = asideSince ?? now
          state.troubled[held.file.id] = (now + pause, nil)
          report.nextCall = min(report.nextCall ?? .infinity, pause)
        }
      } catch {
        // The others may still be released.
        if held.file.role == .recording { late.insert(held.recording.key) }
        state.troubled[held.file.id] = (now + Self.troublePause, error)
        report.problems.append(error)
        report.nextCall = min(report.nextCall ?? .infinity, Self.troublePause)
      }
    }
  }

  /// The recordings whose acknowledgements could not be written just now.
  private func unacknowledged(_ report: Report) throws(SpoolError) -> Set<RecordingKey> {
    if report.problems.isEmpty { return [] }
    return Set(
      try store.recordings.unacknowledged(pipeline: pipeline, limit: .max).lazy.map(\.key))
  }

  /// Whether a release makes the room that acknowledgements may want: one that deletes, on their disk.
  private func freesRoom(_ goal: RecordingFile.Place) -> Bool {
    guard goal == .deleted, let own = try? FileStamp(following: inbox) else { return false }
    return ([post.path] + post.others).contains {
      (try? FileStamp(following: $0))?.device == own.device
    }
  }

  /// Seconds until a file that could not be released is tried again.
  private static let troublePause = 30.0

  private func takeSnapshot(
    _ state: inout State, _ report: inout Report
  ) throws(SpoolError) {
    let version = try store.recordings.version()
    guard version != state.snapshotVersion else { return }
    let now = store.recordings.now
    // A long list takes its time; nine tenths of it are for other work.
    let due = state.snapshotTime + max(rules.snapshotPause, 10 * state.snapshotCost)
    guard now >= due || now < state.snapshotTime else {
      report.nextCall = min(report.nextCall ?? .infinity, due - now)
      return
    }
    let begin = MonotonicTime.now
    var recordings: [Recording] = []
    var counts: [String: Int] = [:]
    var aliases: [RecordingKey: [String]] = [:]
    var claims: [RecordingKey: [RecordingKey]] = [:]
    for pipeline in [pipeline] + post.pipelines {
      recordings += try store.recordings.matching(
        RecordingQuery(
          states: Set(RecordingState.allCases).subtracting([.uploaded]), pipeline: pipeline,
          limit: .max))
      recordings += try store.recordings.matching(
        RecordingQuery(
          states: [.uploaded], pipeline: pipeline, changedSince: now - rules.currentPeriod,
          limit: rules.currentLimit))
      let tally = try store.recordings.tally(pipeline: pipeline)
      claims.merge(try store.recordings.claims(pipeline: pipeline), uniquingKeysWith: +)
      aliases.merge(try store.recordings.aliases(pipeline: pipeline)) { first, _ in first }
      for (state, count) in tally.counts { counts[state.rawValue, default: 0] += count.count }
      counts["cancelled", default: 0] += tally.cancelled?.count ?? 0
    }
    let text = AcknowledgementText.snapshot(
      of: recordings.sorted { ($0.receivedAt, $0.key) < ($1.receivedAt, $1.key) }, counts,
      aliases: aliases, claims: claims, copies: try store.deliveries.allCopies(),
      expected: try store.deliveries.expectations(),
      version: version, at: now)
    let folder = try outboxFolder()
    try folder.write(text, to: AcknowledgementName.snapshot)
    try folder.flushFolder(.inbox)
    state.snapshotVersion = version
    state.snapshotTime = now
    state.snapshotCost = (MonotonicTime.now - begin) / .seconds(1)
    report.isSnapshotWritten = true
  }

  /// Finds the acknowledgements that are missing from the outbox.
  private func checkOutbox() throws(SpoolError) {
    let folder = try outboxFolder()
    let lock = try folder.lock()
    defer { _ = lock.path }
    try folder.sweep()
    let present = Set(try folder.files { $0.hasSuffix(".ack.json") }.keys)
    let missing = try store.recordings.acknowledgedNames(pipeline: pipeline).filter { name, _ in
      AcknowledgementName.acknowledgement(name).name.map { !present.contains($0) } ?? false
    }
    let revisions = Dictionary(
      missing.map { ($0.recording, 0) }, uniquingKeysWith: { first, _ in first })
    try store.recordings.markAcknowledged(revisions)
  }

  /// The open outbox, created if it is missing.
  /// - Parameter path: that of another inbox's outbox.
  func outboxFolder(at path: String? = nil) throws(SpoolError) -> ProcessedFolder {
    let path = path ?? outbox
    guard isInPlace(path) else {
      throw SpoolError(
        "write into the outbox", path, reason: "it is not where it was",
        advice: "mount or make it again")
    }
    do throws(SpoolError) {
      return try ProcessedFolder(at: path, hook: hook)
    } catch {
      guard error.kind == .missing else { throw error }
      try ProcessedFolder.make(path)
      return try ProcessedFolder(at: path, hook: hook)
    }
  }

  /// A recording's file that has left the inbox, or stays in it for good.
  struct Release: Hashable, Sendable {
    let file: RecordingFile
    let place: RecordingFile.Place
    let path: InboxPath?

    /// Whether the recording is done; else it is quarantined.
    let isDone: Bool

    init(_ held: HeldFile, _ place: RecordingFile.Place, at path: InboxPath) {
      file = held.file
      isDone = held.recording.state == .uploaded
      self.place = place
      self.path = place == .gone || place == .deleted ? nil : path
    }

    var words: String {
      let target = path.map { " to \($0)" } ?? ""
      switch place {
      case .accepted: return "done, and moved\(target)"
      case .quarantine:
        return "it cannot be processed, and was moved\(target), with the reason beside it"
      case .left: return "\(isDone ? "done" : "it cannot be processed"), and left where it is"
      case .deleted: return "done, and deleted from the inbox; the store keeps its original"
      case .gone:
        return "somebody has taken it away or changed it; the store has it as it arrived"
      case .inbox: return "still in the inbox"
      }
    }
  }

  /// What was settled, and what could not be.
  struct Report: Sendable {
    var acknowledgements = 0
    var answers = 0
    /// The results of commands that had waited for their recordings.
    var decidedLate: [RecordingCommandResult] = []
    /// The recordings that destinations have confirmed, perhaps by another process.
    var confirmed: [(recording: Recording, destinations: [String])] = []
    var released: [Release] = []
    /// Whether recordings were forgotten whose files may still lie in an inbox, and are new now.
    var isAnyForgotten = false
    var isSnapshotWritten = false
    /// The recordings of dead processes, which are due again.
    var recovered: [Recording] = []
    /// Failures; each is tried again.
    var problems: [SpoolError] = []
    /// Seconds until there is more to do without an event; nil if nothing is pending.
    var nextCall: Double?
  }

  struct State {
    /// When each file that could not be released is tried again, in seconds since 1970, and why it could
    /// not; nil for one that lies aside, or whose recording could not.
    var troubled: [Int64: (end: Double, trouble: SpoolError?)] = [:]
    /// Since when each file lies aside for deletion, in seconds since 1970.
    var aside: [Int64: Double] = [:]
    /// The store's version that the last snapshot shows.
    var snapshotVersion: Int64?
    /// When the last snapshot was written, and how long that took, in seconds.
    var snapshotTime = -Double.infinity
    var snapshotCost = 0.0
    /// What destinations had of recordings at the last look.
    var copies = FollowedCopies()
  }
}
