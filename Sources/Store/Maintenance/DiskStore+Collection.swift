import Glibc
import PipelineModel
package import Platform

extension DiskStore {
  /// Frees what the policy allows, except originals, words and receipts, files whose records were
  /// lost with the database, what is needed by kept,
  /// running or unfinished runs, what was used within the grace period, and what was used since the
  /// oldest running run began.
  ///
  /// Rows go first, then files: after an interruption the store is consistent, and
  /// the rest goes next time. Portions grow, so that on a full disk the first needs almost no room
  /// and makes room for the next. Others may use the store meanwhile.
  /// - Parameter shouldStop: asked before each portion; the rest then goes next time.
  package func collect(
    _ policy: CollectionPolicy, isDryRun: Bool = false, shouldStop: () -> Bool = { false }
  ) throws(SpoolError) -> CollectionReport {
    let now = clock()
    let layout = StoreLayout(root: path)
    let runs = try runs.everyRun()
    let start = guardStart(now, policy.grace, runs)
    let unfinished = UnfinishedRuns(runs)
    let present = ArtifactFile.all(in: layout).files
    // A flipped bit in a row pins another run, or none.
    let loggedPins =
      logged(only: "pins") { (log) throws(SpoolError) in
        try PinTable.pinned(among: runs, in: &log)
      } ?? []
    let lost = LostRecords(layout: layout, files: files)
    let listed = policy.includesUnrecorded ? [] : lost.digests
    let (plan, pinned, uses, unrecorded) = try withDatabase {
      (database) throws(SpoolError) -> (
        CollectionPlan, Int, [Digest: ArtifactUse], Set<Digest>
      ) in
      var unrecorded: Set<Digest> = []
      for digest in listed where try !CheckpointTable.names(digest, in: &database) {
        unrecorded.insert(digest)
      }
      let pinned = try PinTable.pinned(among: runs, in: &database).union(loggedPins)
      let originals = try RecordingTable.originals(in: &database)
      let files = present.map { file in
        let isWanted =
          originals.contains(file.digest) || unrecorded.contains(file.digest)
          || file.stamp.modified > start || file.stamp.hasSeveralNames
        return (
          file.digest,
          CollectionPlan.File(byteCount: Int(file.stamp.byteCount), isProtected: isWanted)
        )
      }
      return (
        try self.plan(
          policy, now: now, guardStart: start, runs, unfinished, pinned,
          Dictionary(files, uniquingKeysWith: { first, _ in first }), &database),
        pinned.count, try ArtifactUse.all(runs, in: &database) { _ in true },
        unrecorded.subtracting(originals)
      )
    }
    let going = present.filter { plan.files.contains($0.digest) }
      .sorted { ($0.stamp.byteCount, $0.path) > ($1.stamp.byteCount, $1.path) }
    var report = CollectionReport(isDryRun: isDryRun)
    report.checkpoints = plan.keys.count
    report.runs = plan.holdingCount
    report.pinned = pinned
    report.held = unfinished.names.count
    report.keptBytes = present.reduce(0) { $0 + Int($1.stamp.byteCount) }
    report.recentBytes = present.filter { $0.stamp.modified > start }
      .reduce(0) { $0 + Int($1.stamp.byteCount) }
    report.unrecordedBytes = present.filter { unrecorded.contains($0.digest) }
      .reduce(0) { $0 + Int($1.stamp.byteCount) }
    let freed =
      isDryRun
      ? Set(going.map(\.digest))
      : try free(plan, going, guardStart: start, shouldStop: shouldStop)
    for file in going where freed.contains(file.digest) {
      let byteCount = Int(file.stamp.byteCount)
      let use = uses[file.digest]
      report.files.append(
        CollectionReport.File(
          path: file.path, byteCount: byteCount, kind: use?.kind ?? .unnamed,
          recording: use?.recording))
      report.freedBytes += byteCount
      report.keptBytes -= byteCount
    }
    // Recent work may be resumed at any time, whatever the policy.
    let workAge = max(policy.effectiveAge, policy.grace)
    let abandoned = try freeWork(
      untouchedFor: workAge, before: unfinished.firstStart, isDryRun: isDryRun)
    for (folder, byteCount) in abandoned {
      report.unfinished.append(
        CollectionReport.File(path: folder, byteCount: byteCount, kind: .unfinished))
      report.freedBytes += byteCount
    }
    if !policy.isSoundOnly {
      for file in try freeDamaged(unusedFor: workAge, isDryRun: isDryRun) {
        report.files.append(file)
        report.freedBytes += file.byteCount
      }
    }
    if !isDryRun {
      if policy.includesUnrecorded { try lost.forget() }
      try withDatabase { changeLog.sweep(in: &$0) }
    }
    return report
  }

  /// Deletes damaged files set aside so many seconds ago; only lists them if `isDryRun`.
  private func freeDamaged(
    unusedFor age: Double, isDryRun: Bool
  ) throws(SpoolError) -> [CollectionReport.File] {
    var freed: [CollectionReport.File] = []
    for name in FilePath.names(in: layout.damaged) {
      let path = "\(layout.damaged)/\(name)"
      // A rename changes the change time.
      guard let stamp = try? FileStamp(at: path), now - Double(stamp.changed) / 1e9 > age else {
        continue
      }
      if !isDryRun {
        try doing("delete", path) { () throws(SystemError) in try files.unlink(path) }
      }
      freed.append(
        CollectionReport.File(path: path, byteCount: Int(stamp.byteCount), kind: .unnamed))
    }
    return freed
  }

  /// Files used since then are kept: the grace period, or the start of the oldest running run.
  func guardStart(_ now: Int64, _ grace: Double, _ runs: [RunRecord]) -> Int64 {
    let hour = now - Int64(grace * 1e9)
    // Runs of dead processes are recognized by their owners and hold nothing.
    let oldest = runs.filter { $0.state == .running }.map(\.startedAt).min()
    return oldest.map { min(hour, Int64($0 * 1e9)) } ?? hour
  }

  /// What a collection by this policy would free of these files.
  func plan(
    _ policy: CollectionPolicy, now: Int64, guardStart: Int64, _ runs: [RunRecord],
    _ unfinished: UnfinishedRuns, _ pinned: Set<String>, _ files: [Digest: CollectionPlan.File],
    _ database: inout Database
  ) throws(SpoolError) -> CollectionPlan {
    var holdings: [CollectionPlan.Holding] = []
    var named: Set<Digest> = []
    for run in runs {
      let keys = Set(run.steps.compactMap { $0.key?.digest })
      named.formUnion(keys)
      holdings.append(
        CollectionPlan.Holding(
          lastUse: run.finishedAt ?? run.startedAt,
          isPinned: run.state == .running || pinned.contains(run.id.name)
            || unfinished.names.contains(run.id.name),
          keys: keys))
    }
    var mentions: [Digest: [CollectionPlan.Mention]] = [:]
    var recent: Set<Digest> = []
    for (digest, stored) in try CheckpointTable.artifacts(in: &database) {
      mentions[digest] = stored.artifacts.map {
        CollectionPlan.Mention(
          artifact: $0.digest, isSound: $0.kind == .sound,
          isPermanent: $0.kind == .transcript || $0.kind == .receipt)
      }
      let recorded = stored.recordedAt ?? guardStart
      if recorded > guardStart { recent.insert(digest) }
      if !named.contains(digest) {
        // Its run may have been interrupted before it recorded the use.
        let time = Double(recorded) / 1e9
        holdings.append(
          CollectionPlan.Holding(
            lastUse: time, isPinned: unfinished.mayHaveMade(at: time), keys: [digest]))
      }
    }
    return CollectionPlan(
      policy, now: Double(now) / 1e9, holdings: holdings, mentions: mentions, files: files,
      isRecent: recent)
  }

  /// Frees the plan, portion by portion.
  /// - Returns: the freed files.
  private func free(
    _ plan: CollectionPlan, _ present: [ArtifactFile], guardStart: Int64, shouldStop: () -> Bool
  ) throws(SpoolError) -> Set<Digest> {
    let files = Dictionary(present.map { ($0.digest, $0) }, uniquingKeysWith: { first, _ in first })
    var freed: Set<Digest> = []
    for portion in plan.portions {
      if shouldStop() { break }
      try strike(portion)
      for digest in portion.files {
        guard let file = files[digest], try remove(file, unlessWantedSince: guardStart) else {
          continue
        }
        freed.insert(digest)
      }
    }
    return freed
  }

  /// Removes a portion from the database.
  private func strike(_ portion: CollectionPlan.Portion) throws(SpoolError) {
    if portion.keys.isEmpty && portion.sound.isEmpty { return }
    try withDatabase { (database) throws(SpoolError) in
      try database.transaction(to: "free room in") { (database) throws(SpoolError) in
        for key in portion.keys { try CheckpointTable.remove(key.hex, from: &database) }
        for artifact in portion.sound {
          _ = try CheckpointTable.strike(artifact, from: &database)
        }
      }
    }
  }

  /// Deletes a file, unless it was used or named since.
  /// - Returns: whether it is gone.
  private func remove(
    _ file: ArtifactFile, unlessWantedSince start: Int64
  ) throws(SpoolError) -> Bool {
    let isNamed = try withDatabase { (database) throws(SpoolError) in
      if try CheckpointTable.names(file.digest, in: &database) { return true }
      return try RecordingTable.hasOriginal(file.digest, in: &database)
    }
    guard !isNamed, let stamp = try? FileStamp(at: file.path), stamp.modified <= start,
      !stamp.hasSeveralNames
    else { return false }
    try doing("delete", file.path) { () throws(SystemError) in
      try files.unlinkIfThere(file.path)
    }
    return true
  }
}
