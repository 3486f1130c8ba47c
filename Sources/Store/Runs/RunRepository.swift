package import PipelineModel
package import Platform

/// All runs. Methods may be called from any thread and any number of processes.
package struct RunRepository: RunLog {
  private let store: DiskStore
  private let database: SharedDatabase

  init(_ store: DiskStore) {
    self.store = store
    database = store.database
  }

  /// Writes a run whole. A running run belongs to this process and becomes durable with its first
  /// work; an ended one is durable on return. Once a day the end of a run backs up the database.
  package func save(_ run: RunRecord) throws(SpoolError) {
    guard run.state != .running else {
      if try !isKnown(run.id) {
        store.ballast.keep()
        store.reserve.keep(for: run.id)
      }
      return try database.withDeferredFlush(to: RunTable.recordAction) {
        (database) throws(SpoolError) in
        try write(run, to: &database)
      }
    }
    defer { store.reserve.end(run.id) }
    do throws(SpoolError) {
      try saveEnded(run)
    } catch {
      guard error.isFullDisk else { throw error }
      store.reserve.giveUp()
      try saveEnded(run)
    }
    store.tellListener(of: run)
    store.backUpIfDue()
  }

  private func saveEnded(_ run: RunRecord) throws(SpoolError) {
    try database.with { (database) throws(SpoolError) in
      try write(run, to: &database)
    }
  }

  private func isKnown(_ run: RunID) throws(SpoolError) -> Bool {
    try !database.run("SELECT 1 FROM runs WHERE id = ?", [.text(run.name)], to: "read runs in")
      .isEmpty
  }

  private func write(_ run: RunRecord, to database: inout Database) throws(SpoolError) {
    try database.transaction(to: RunTable.recordAction) { (database) throws(SpoolError) in
      let recorded = RecordedRun(run, number: try RunTable.number(of: run.id, in: &database))
      try RunTable.write(recorded, to: &database)
    }
  }

  /// The paths of all files that runs took in. O(runs).
  func inputPaths() throws(SpoolError) -> [String] {
    try database.run(
      """
      SELECT DISTINCT input.value FROM runs,
        json_each(CASE WHEN json_valid(record) THEN record ELSE '{}' END, '$.inputs') AS input
      """, to: "read runs in"
    ).compactMap { $0[0].text }
  }

  /// Gives up an unfinished run, which then holds nothing, with the earlier attempts at its work that
  /// are not done either.
  /// - Parameter prefix: the run's name, or the beginning of it.
  /// - Returns: the run; nil if there is none of that name. Throws if it is running or done.
  package func drop(_ prefix: String) throws(SpoolError) -> RunRecord? {
    guard let run = try run(named: prefix) else { return nil }
    guard run.state != .running, run.state != .done else {
      let isDone = run.state == .done
      throw SpoolError(
        "drop the run", run.id.name, reason: isDone ? "it is done" : "it is under way",
        advice: isDone ? "\(command: .gc) frees what only old runs need" : "stop it first")
    }
    if run.state == .dropped { return run }
    var given = [run]
    for earlier in try newest(limit: .max).drop(while: { $0.id != run.id })
    where earlier.isUnfinished && given.contains(where: { earlier.isTakenUp(by: $0) }) {
      given.append(earlier)
    }
    for attempt in given.dropFirst().reversed() { _ = try giveUp(attempt) }
    return try giveUp(run)
  }

  /// Gives up the stopped and failed runs among those that may need action which have nothing to do any
  /// more. O(those runs).
  package func giveUp(where isDone: (RunRecord) -> Bool) throws(SpoolError) {
    for run in try open() where run.state != .running && isDone(run) { _ = try giveUp(run) }
  }

  private func giveUp(_ run: RunRecord) throws(SpoolError) -> RunRecord {
    var run = run
    run.state = .dropped
    run.finishedAt = run.finishedAt ?? store.now
    try save(run)
    return run
  }

  /// The newest runs, the last recorded first, whatever the clock said. Running runs of dead
  /// processes are interrupted.
  package func newest(limit: Int) throws(SpoolError) -> [RunRecord] {
    let found = try look(Self.newestFirst, [SQLValue(max(0, limit))])
    guard found.hasStrays else { return told(found) }
    // If index and table differ, the runs of both are returned.
    let rows = try look("SELECT id, record, owner, number FROM runs NOT INDEXED", [])
    store.news.tellOnce(
      "the list of runs is damaged: some are shown as the change log says; \(command: .repair) "
        + "puts it right"
    )
    let known = Set(found.runs.map(\.id))
    let runs = found.recorded + rows.recorded.filter { !known.contains($0.run.id) }
    return Array(
      runs.sorted { RecordedRun.isBefore($1, $0) }.map(\.run).prefix(max(0, limit)))
  }

  /// The newest run that began: a start that was refused before any work is none. Nil if there is none.
  package func last() throws(SpoolError) -> RunRecord? {
    var limit = 1
    while true {
      let runs = try newest(limit: limit)
      if let run = runs.first(where: { $0.state != .refused }) { return run }
      if runs.count < limit { return nil }
      limit *= 16
    }
  }

  /// Names from the index alone: one without a matching row is an unreadable run, not an unknown
  /// one.
  private static let newestFirst = """
    SELECT newest.id, runs.record, runs.owner, newest.number FROM (
      SELECT id, number, started_at FROM runs INDEXED BY runs_by_number
      ORDER BY number DESC, started_at DESC, id DESC LIMIT ?
    ) AS newest LEFT JOIN runs ON runs.id = newest.id
    ORDER BY newest.number DESC, newest.started_at DESC, newest.id DESC
    """

  /// The newest run of a pipeline on a recording; nil if none. O(runs).
  package func lastRun(
    of recording: Digest, pipeline: String
  ) throws(SpoolError) -> RunRecord? {
    try records(
      """
      SELECT id, record, owner, number FROM runs WHERE pipeline = ? AND instr(record, ?) > 0
      ORDER BY number DESC, started_at DESC, id DESC LIMIT 8
      """, [.text(pipeline), .text(recording.hex)]
    ).first { $0.recordings?.values.contains(recording) == true }
  }

  /// The runs whose records name any of some digests, as those of recordings and of sound, newest first.
  /// Decodes only these. O(runs).
  package func mentioning(_ digests: [Digest]) throws(SpoolError) -> [RunRecord] {
    if digests.isEmpty { return [] }
    let condition = digests.map { _ in "instr(record, ?) > 0" }.joined(separator: " OR ")
    return try records(
      """
      SELECT id, record, owner, number FROM runs WHERE \(condition)
      ORDER BY number DESC, started_at DESC, id DESC
      """, digests.map { .text($0.hex) })
  }

  /// The finished runs that took in the file at a path, newest first. Decodes only those that name it.
  /// O(runs).
  /// - Parameter path: absolute.
  package func taking(_ path: String) throws(SpoolError) -> [RunRecord] {
    try records(
      """
      SELECT id, record, owner, number FROM runs WHERE state = 'done' AND instr(record, ?) > 0
      ORDER BY number DESC, started_at DESC, id DESC
      """, [.text(try Self.recorded(path))]
    ).filter { $0.inputs.values.contains(path) }
  }

  /// The finished runs that took in a file of a name, in whatever folder, newest first. Decodes only
  /// those that have the name in them. O(runs).
  package func taking(fileNamed name: String) throws(SpoolError) -> [RunRecord] {
    try records(
      """
      SELECT id, record, owner, number FROM runs WHERE state = 'done' AND instr(record, ?) > 0
      ORDER BY number DESC, started_at DESC, id DESC
      """, [.text(String(try Self.recorded(name).dropFirst()))]
    ).filter { $0.inputs.values.contains { $0.pathNames.last == name } }
  }

  /// The runs that wrote a file at a path, newest first. Decodes only those that name it. O(runs).
  /// - Parameter path: absolute.
  package func publishing(_ path: String) throws(SpoolError) -> [RunRecord] {
    try records(
      """
      SELECT id, record, owner, number FROM runs WHERE instr(record, ?) > 0
      ORDER BY number DESC, started_at DESC, id DESC
      """, [.text(try Self.recorded(path))]
    ).filter { $0.published.contains { $0.path == path } }
  }

  /// A path as it stands in a record.
  private static func recorded(_ path: String) throws(SpoolError) -> String {
    String(try StoredJSON.encode([path], to: "read runs in").dropFirst().dropLast())
  }

  /// The runs that may need action, newest first: running ones, unfinished ones, and failures since
  /// a time in seconds since 1970. Leaves out what was resumed or started again, failures that a
  /// later run resolves, and starts that were refused before any work. Decodes only these runs and
  /// the later ones of the same recordings.
  package func open(failedSince start: Double = 0) throws(SpoolError) -> [RunRecord] {
    let candidates = try records(Self.openFirst, [.real(start)])
    var open: [RunRecord] = []
    for run in candidates where try !isResolved(run) { open.append(run) }
    return open
  }

  /// Found by the index alone: a store keeps the list of all its runs.
  static let openFirst = """
    SELECT id, record, owner, number FROM runs
    WHERE state IN ('running', 'cut-off', 'interrupted', 'paused')
      OR state = 'failed' AND started_at >= ?
    ORDER BY number DESC, started_at DESC, id DESC
    """

  /// The runs of a pipeline behind a run, the last first, if they name it, or one of its recordings or
  /// files.
  /// Runs without numbers are ordered by their times; clocks are set back, so one of them that
  /// names it counts wherever it stands.
  static let laterRuns = """
    SELECT later.id, later.record, later.owner, later.number FROM runs AS own
    CROSS JOIN runs AS later
    WHERE own.id = ?1 AND later.pipeline = ?2 AND later.number >= own.number
      AND later.id <> ?1 AND later.state <> 'refused'
      AND EXISTS (SELECT 1 FROM json_each(?3) WHERE instr(later.record, value))
      AND (instr(later.record, ?1)
        OR (later.number, later.started_at, later.id) > (own.number, own.started_at, own.id))
    ORDER BY later.number DESC, later.started_at DESC, later.id DESC
    """

  /// Whether a later run has taken this one up, or has done its work. O(later runs of the pipeline).
  package func isResolved(_ run: RunRecord) throws(SpoolError) -> Bool {
    try laterRuns(than: run).contains { run.isTakenUp(by: $0) || $0.resolves(run) }
  }

  /// The newest later run whose exports this one would replace if it were resumed: it is done, of the
  /// same recording and pipeline, into the same folder, and with other settings. Nil if there is none.
  /// O(later runs of the pipeline).
  package func successor(of run: RunRecord) throws(SpoolError) -> RunRecord? {
    let last = try laterRuns(than: run).first { $0.resolves(run) }
    return last.flatMap { run.isTakenUp(by: $0) ? nil : $0 }
  }

  private func laterRuns(than run: RunRecord) throws(SpoolError) -> [RunRecord] {
    let places = try run.inputs.values.map { (path) throws(SpoolError) in
      try Self.recorded(path)
    }
    let needles = (places + (run.recordings ?? [:]).values.map(\.hex)).sorted()
    return try records(
      Self.laterRuns,
      [
        .text(run.id.name), .text(run.pipeline),
        .text(try StoredJSON.encode(needles, to: "read runs")),
      ])
  }

  /// Gives up all failures before a time in seconds since 1970, also those that a later run resolved:
  /// they need no action any more. O(failed runs).
  /// - Returns: the runs, newest first.
  package func forgetFailures(before end: Double) throws(SpoolError) -> [RunRecord] {
    var forgotten: [RunRecord] = []
    let failed = try records(
      """
      SELECT id, record, owner, number FROM runs WHERE state = 'failed'
      ORDER BY number DESC, started_at DESC, id DESC
      """, [])
    for run in failed where run.state == .failed && run.startedAt <= end {
      forgotten.append(try giveUp(run))
    }
    return forgotten
  }

  /// The run of this name, or the only one with this prefix; throws if it is ambiguous, nil if
  /// none.
  package func run(named prefix: String) throws(SpoolError) -> RunRecord? {
    // Every name begins with nothing.
    if prefix.isEmpty { return nil }
    let found = try records(
      """
      SELECT id, record, owner, number FROM runs WHERE substr(id, 1, length(?1)) = ?1
      ORDER BY id = ?1 DESC, number DESC, started_at DESC LIMIT 4
      """, [.text(prefix)])
    guard let first = found.first, found.count > 1, first.id.name != prefix else {
      return found.first
    }
    let names = found.prefix(3).map(\.id.name).joined(separator: ", ")
    throw SpoolError(
      "choose a run by", prefix,
      reason: "several begin with it: \(names)\(found.count > 3 ? ", …" : "")",
      advice: "type more of the name")
  }

  /// All runs. Throws if one is unreadable.
  func everyRun() throws(SpoolError) -> [RunRecord] {
    let found = try look(Self.newestFirst, [SQLValue(Int.max)])
    guard let lost = found.unreadable.first else { return found.runs }
    throw SpoolError(
      "tell what the run \(lost) needs in", store.path, reason: "its row is damaged",
      advice: "\(command: .repair) takes it from the change log, or drops it")
  }

  /// The readable runs; the others are reported.
  private func records(_ sql: String, _ values: [SQLValue]) throws(SpoolError) -> [RunRecord] {
    told(try look(sql, values))
  }

  private func told(_ found: FoundRuns) -> [RunRecord] {
    for id in found.restored {
      store.news.tellOnce(
        "the row of the run \(id) is damaged: it is shown as the change log says; "
          + "\(command: .repair) puts it right")
    }
    for id in found.unreadable {
      store.news.tellOnce(
        "the run \(id) cannot be read and is left out; \(command: .repair) drops it")
    }
    return found.runs
  }

  /// Runs from rows or, if a row is damaged, from the change log.
  private func look(_ sql: String, _ values: [SQLValue]) throws(SpoolError) -> FoundRuns {
    let rows = try database.run(sql, values, to: "read runs in")
    var found = FoundRuns()
    for row in rows {
      let id = row[0].text ?? "without a name"
      if row[1] == .null { found.hasStrays = true }
      var run: RunRecord? = row[1].text.flatMap { try? StoredJSON.decode($0) }
      if run?.id.name != id {
        run = store.logged(only: "runs") { (log) throws(SpoolError) in
          try RunTable.run(id, in: &log)?.run
        }
        if run?.id.name == id { found.restored.append(id) } else { found.unreadable.append(id) }
      }
      guard var run, run.id.name == id else { continue }
      if run.state == .running, row[2].text.flatMap({ ProcessIdentity($0) })?.isAlive == false {
        run.state = .cutOff
      }
      found.recorded.append(RecordedRun(run, number: row[3].integer ?? 0))
    }
    return found
  }

  /// Pins a run: excludes it from collection.
  /// - Parameter prefix: the run's name, or the beginning of it.
  /// - Returns: the run; nil if there is none of that name.
  package func pin(_ prefix: String) throws(SpoolError) -> RunRecord? {
    guard let run = try run(named: prefix) else { return nil }
    let pin = Pin(run: run.id, pinnedAt: store.now)
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: PinTable.action) { (database) throws(SpoolError) in
        try PinTable.write(pin, to: &database)
      }
    }
    return run
  }

  /// Unpins a run.
  /// - Returns: the run; nil if there is none of that name.
  package func unpin(_ prefix: String) throws(SpoolError) -> RunRecord? {
    guard let run = try run(named: prefix) else { return nil }
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: PinTable.action) { (database) throws(SpoolError) in
        try PinTable.remove(run.id, from: &database)
      }
    }
    return run
  }

  /// The result of a query of runs.
  private struct FoundRuns {
    var recorded: [RecordedRun] = []
    var runs: [RunRecord] { recorded.map(\.run) }
    /// Runs restored from the change log, by name.
    var restored: [String] = []
    /// Unreadable runs, by name.
    var unreadable: [String] = []
    /// Whether the index names runs that the table lacks.
    var hasStrays = false
  }
}
