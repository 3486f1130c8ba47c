internal import Sidecars
internal import PipelineModel
internal import Synchronization

extension Custody {
  /// Brings everything outside the store into line with the ledger: acknowledgements and answers
  /// that are out of date are written, files of uploaded and quarantined notes released, and, at
  /// most once a second, the snapshot of all current notes.
  ///
  /// Call it after every change, and now and then for what other processes have changed. Where there
  /// is nothing to do it takes a few look-ups in indexes.
  public func settle() -> CustodyReport {
    settling.withLock { state in
      var report = CustodyReport()
      attempt(&report) { (report) throws(CustodyError) in try acknowledge(&report) }
      attempt(&report) { (report) throws(CustodyError) in try release(&state, &report) }
      attempt(&report) { (report) throws(CustodyError) in try takeSnapshot(&state, &report) }
      return report
    }
  }

  /// Puts right what was cut off when a process died: notes that it was at wait again, and what is
  /// missing from the outbox is made again. Called once before the inbox is watched.
  public func reconcile() -> CustodyReport {
    var recovered: [Note] = []
    var report = CustodyReport()
    attempt(&report) { (_) throws(CustodyError) in
      recovered = try inStore { () throws(StoreError) in
        try store.recoverNotes(pipeline: pipeline)
      }
    }
    attempt(&report) { (_) throws(CustodyError) in try checkOutbox() }
    attempt(&report) { (_) throws(CustodyError) in
      // Nothing to sweep where there is no inbox yet.
      let folder = try inboxFolder()
      try withExtendedLock(folder) { (folder) throws(CustodyError) in try folder.sweep() }
    }
    report.problems.removeAll { $0.kind == .missing }
    var settled = settle()
    settled.recovered = recovered
    settled.problems = report.problems + settled.problems
    return settled
  }

  private func attempt(
    _ report: inout CustodyReport, _ work: (inout CustodyReport) throws(CustodyError) -> Void
  ) {
    do throws(CustodyError) {
      try work(&report)
    } catch {
      report.problems.append(error)
    }
  }

  /// Does something while no other process does the like in this folder.
  private func withExtendedLock(
    _ folder: borrowing CustodyFolder,
    _ work: (borrowing CustodyFolder) throws(CustodyError) -> Void
  ) throws(CustodyError) {
    let lock = try lockInbox(folder)
    try work(folder)
    _ = lock.number
  }

  /// Takes acknowledgements away that are nobody's any more.
  /// - Returns: whether there were any.
  private func retract() throws(CustodyError) -> Bool {
    let names = try inStore { () throws(StoreError) in
      try store.retractedNames(pipeline: pipeline)
    }
    if names.isEmpty { return false }
    for outbox in [post.path] + post.others {
      let folder = try outboxFolder(at: outbox)
      let lock = try folder.lock()
      defer { _ = lock.number }
      for name in names { try folder.remove(AcknowledgementName.acknowledgement(name)) }
      try folder.flushFolder(.inbox)
    }
    try inStore { () throws(StoreError) in try store.markRetracted(names, pipeline: pipeline) }
    return true
  }

  private func acknowledge(_ report: inout CustodyReport) throws(CustodyError) {
    if try retract() { report.isAnyForgotten = true }
    guard try owesWords() else { return }
    while true {
      let notes = try inStore { () throws(StoreError) in
        try store.unacknowledgedNotes(pipeline: pipeline, limit: 200)
      }
      if notes.isEmpty { break }
      let claims = try inStore { () throws(StoreError) in
        try store.claims(pipeline: pipeline)
      }
      var words: [(path: InboxPath, text: String)] = []
      for note in notes {
        let names = try inStore { () throws(StoreError) in
          try store.acknowledgementNames(of: note)
        }
        words += names.map {
          (
            AcknowledgementName.acknowledgement($0),
            AcknowledgementText.acknowledgement(
              of: note, named: $0, aliases: Array(names.dropFirst()),
              claimants: claims[note.key] ?? [])
          )
        }
      }
      try publish(words)
      report.acknowledgements += words.count
      let revisions = Dictionary(
        notes.map { ($0.key, $0.revision) }, uniquingKeysWith: { first, _ in first })
      try inStore { () throws(StoreError) in try store.markAcknowledged(revisions) }
    }
    let results = try inStore { () throws(StoreError) in
      try store.unansweredCommands(pipeline: pipeline, limit: 1000)
    }
    if results.isEmpty { return }
    try publish(
      results.map { (AcknowledgementName.answer(to: $0.id), AcknowledgementText.answer(to: $0)) })
    report.answers += results.count
    report.decidedLate += results.filter { $0.isDecidedLate && $0.status != .waiting }
    try inStore { () throws(StoreError) in
      try store.markAnswered(results.map(\.id), pipeline: pipeline)
    }
  }

  /// Writes files into each of the pipeline's outboxes. One that cannot be written to keeps nobody
  /// from reading the others, and is written to again with all that is owed.
  private func publish(_ words: [(path: InboxPath, text: String)]) throws(CustodyError) {
    var failure: CustodyError?
    for outbox in [post.path] + post.others {
      do throws(CustodyError) {
        let folder = try outboxFolder(at: outbox)
        let lock = try folder.lock()
        defer { _ = lock.number }
        for (path, text) in words { try folder.write(text, to: path) }
        try folder.flushFolder(.inbox)
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func owesWords() throws(CustodyError) -> Bool {
    try inStore { () throws(StoreError) in
      let notes = try store.unacknowledgedNotes(pipeline: pipeline, limit: 1)
      if !notes.isEmpty { return true }
      return try !store.unansweredCommands(pipeline: pipeline, limit: 1).isEmpty
    }
  }

  private func release(
    _ state: inout CustodySettling, _ report: inout CustodyReport
  ) throws(CustodyError) {
    let now = store.noteTime
    state.troubled = state.troubled.filter { $0.value > now }
    let held = try inStore { () throws(StoreError) in
      try store.heldFiles(inbox: inbox, limit: 500 + state.troubled.count)
    }.filter { state.troubled[$0.file.id] == nil }
    if let next = state.troubled.values.min() { report.nextCall = max(0, next - now) }
    if held.isEmpty { return }
    let folder = try inboxFolder()
    let lock = try lockInbox(folder)
    defer { _ = lock.number }
    let work = ReleaseWork(folder: folder, store: store, rules: rules, option: option)
    for held in held {
      do throws(CustodyError) {
        let asideSince = state.aside[held.file.id]
        switch try work.release(held, asideFor: asideSince.map { max(0, now - $0) }) {
        case .released(let place, let path):
          state.aside[held.file.id] = nil
          report.released.append(FileRelease(held, place, at: path))
        case .later(let pause):
          state.aside[held.file.id] = asideSince ?? now
          state.troubled[held.file.id] = now + pause
          report.nextCall = min(report.nextCall ?? .infinity, pause)
        }
      } catch {
        // The others may still go.
        state.troubled[held.file.id] = now + Self.troublePause
        report.problems.append(error)
        report.nextCall = min(report.nextCall ?? .infinity, Self.troublePause)
      }
    }
  }

  /// After how many seconds a file that could not be released is tried again.
  private static let troublePause = 30.0

  private func takeSnapshot(
    _ state: inout CustodySettling, _ report: inout CustodyReport
  ) throws(CustodyError) {
    let version = try inStore { () throws(StoreError) in try store.noteVersion() }
    guard version != state.snapshotVersion else { return }
    let now = store.noteTime
    // A long list takes its time; nine tenths of it are for other work.
    let due = state.snapshotTime + max(rules.snapshotPause, 10 * state.snapshotCost)
    guard now >= due || now < state.snapshotTime else {
      report.nextCall = min(report.nextCall ?? .infinity, due - now)
      return
    }
    let begin = Moment.now
    let text = try inStore { () throws(StoreError) in
      var notes: [Note] = []
      var counts: [String: Int] = [:]
      var aliases: [NoteKey: [String]] = [:]
      var claims: [NoteKey: [NoteKey]] = [:]
      for pipeline in [pipeline] + post.pipelines {
        notes += try store.notes(
          NoteQuery(
            states: Set(NoteState.allCases).subtracting([.uploaded]), pipeline: pipeline,
            limit: .max))
        notes += try store.notes(
          NoteQuery(
            states: [.uploaded], pipeline: pipeline, changedSince: now - rules.currentPeriod,
            limit: rules.currentLimit))
        let tally = try store.tally(pipeline: pipeline)
        claims.merge(try store.claims(pipeline: pipeline), uniquingKeysWith: +)
        aliases.merge(try store.aliases(pipeline: pipeline)) { first, _ in first }
        for (state, count) in tally.counts { counts[state.rawValue, default: 0] += count.count }
        counts["cancelled", default: 0] += tally.cancelled?.count ?? 0
      }
      return AcknowledgementText.snapshot(
        of: notes.sorted { ($0.receivedAt, $0.key) < ($1.receivedAt, $1.key) }, counts,
        aliases: aliases, claims: claims, version: version, at: now)
    }
    let folder = try outboxFolder()
    try folder.write(text, to: AcknowledgementName.snapshot)
    try folder.flushFolder(.inbox)
    state.snapshotVersion = version
    state.snapshotTime = now
    state.snapshotCost = (Moment.now - begin) / .seconds(1)
    report.isSnapshotWritten = true
  }

  /// Looks which acknowledgements are missing from the outbox.
  private func checkOutbox() throws(CustodyError) {
    let folder = try outboxFolder()
    let lock = try folder.lock()
    defer { _ = lock.number }
    try folder.sweep()
    let present = Set(try folder.files { $0.hasSuffix(".ack.json") }.keys)
    let missing = try inStore { () throws(StoreError) in
      try store.acknowledgedNames(pipeline: pipeline)
    }.filter { name, _ in
      AcknowledgementName.acknowledgement(name).name.map { !present.contains($0) } ?? false
    }
    let revisions = Dictionary(
      missing.map { ($0.note, 0) }, uniquingKeysWith: { first, _ in first })
    try inStore { () throws(StoreError) in try store.markAcknowledged(revisions) }
  }

  /// The open outbox, made where it is missing.
  /// - Parameter path: another one's than the inbox's own.
  func outboxFolder(at path: String? = nil) throws(CustodyError) -> CustodyFolder {
    let path = path ?? outbox
    guard isInPlace(path) else {
      throw CustodyError(
        "write into the outbox", path, reason: "it is not where it was",
        advice: "mount or make it again")
    }
    do throws(CustodyError) {
      return try CustodyFolder(at: path, calls: calls)
    } catch {
      guard error.kind == .missing else { throw error }
      try CustodyFolder.make(path)
      return try CustodyFolder(at: path, calls: calls)
    }
  }
}
