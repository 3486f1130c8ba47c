import Glibc
internal import Hashing
public import PipelineModel

extension DiskStore {
  /// Frees what the policy lets go, and nothing that a kept run needs, that a run needs which is under
  /// way or did not come to its end, that was wanted within the policy's time of grace, or since the
  /// oldest run that is under way began.
  ///
  /// Rows go first, then records, then files: cut off anywhere, the store is whole, and what is
  /// left over goes the next time. All goes in portions that grow, so that on a disk that is full the
  /// first needs next to no room, and makes it for the others. Others may work in the store meanwhile.
  public func collect(
    _ policy: CollectionPolicy, isDryRun: Bool = false
  ) throws(StoreError) -> CollectionReport {
    let now = clock()
    let layout = StoreLayout(root: path)
    let runs = try everyRun()
    let start = guardStart(now, policy.grace, runs)
    let unfinished = UnfinishedRuns(runs)
    let present = ArtifactFile.all(in: layout).files
    let (plan, pinned) = try withDatabase {
      (database) throws(StoreError) -> (CollectionPlan, Int) in
      let pinned = try PinTable.pinned(among: runs, records, in: &database)
      return (
        try self.plan(
          policy, now: now, guardStart: start, runs, unfinished, pinned, present, &database),
        pinned.count
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
    let freed = isDryRun ? Set(going.map(\.digest)) : try free(plan, going, guardStart: start)
    if !isDryRun { pruneWords() }
    for file in going where freed.contains(file.digest) {
      let byteCount = Int(file.stamp.byteCount)
      report.files.append(CollectionReport.File(path: file.path, byteCount: byteCount))
      report.freedBytes += byteCount
      report.keptBytes -= byteCount
    }
    // Work of a moment ago may be gone on with any moment, whatever the policy says.
    let workAge = max(policy.effectiveAge, policy.grace)
    let lost = try freeWork(
      untouchedFor: workAge, before: unfinished.firstStart, isDryRun: isDryRun)
    for (folder, byteCount) in lost {
      report.unfinished.append(CollectionReport.File(path: folder, byteCount: byteCount))
      report.freedBytes += byteCount
    }
    if !policy.isSoundOnly {
      for file in try freeDamaged(unusedFor: workAge, isDryRun: isDryRun) {
        report.files.append(file)
        report.freedBytes += file.byteCount
      }
    }
    return report
  }

  /// Deletes what was set aside as damaged so long ago, in seconds; only tells, if `isDryRun`.
  private func freeDamaged(
    unusedFor age: Double, isDryRun: Bool
  ) throws(StoreError) -> [CollectionReport.File] {
    var freed: [CollectionReport.File] = []
    for name in FolderListing.names(in: layout.damaged) {
      let path = "\(layout.damaged)/\(name)"
      // A rename counts as a change of the file.
      guard let stamp = try? FileStamp(at: path), now - Double(stamp.changed) / 1e9 > age else {
        continue
      }
      if !isDryRun {
        try doing("delete", path) { () throws(SystemError) in try files.unlink(path) }
      }
      freed.append(CollectionReport.File(path: path, byteCount: Int(stamp.byteCount)))
    }
    return freed
  }

  /// Since when what was wanted is left alone: for the time of grace, or for as long as a run is
  /// under way.
  private func guardStart(_ now: Int64, _ grace: Double, _ runs: [RunRecord]) -> Int64 {
    let hour = now - Int64(grace * 1e9)
    // Those whose process died are told apart by their owners, and hold nothing.
    let oldest = runs.filter { $0.state == .running }.map(\.startedAt).min()
    return oldest.map { min(hour, Int64($0 * 1e9)) } ?? hour
  }

  private func plan(
    _ policy: CollectionPolicy, now: Int64, guardStart: Int64, _ runs: [RunRecord],
    _ unfinished: UnfinishedRuns, _ pinned: Set<String>, _ present: [ArtifactFile],
    _ database: inout Database
  ) throws(StoreError) -> CollectionPlan {
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
    for text in try CheckpointTable.keys(in: &database) {
      guard let digest = Digest(hex: text) else { continue }
      let key = Checkpoint.Key(digest)
      let checkpoint = try CheckpointTable.checkpoint(for: key, in: &database)
      mentions[digest] = (checkpoint?.outputs.values.compactMap(\.artifact) ?? []).map {
        CollectionPlan.Mention(artifact: $0.digest, isSound: $0.kind == .sound)
      }
      // A checkpoint itself has no time: its record, written with it, has.
      let recorded = (try? FileStamp(at: records.path(of: key)))?.modified ?? guardStart
      if recorded > guardStart { recent.insert(digest) }
      if !named.contains(digest) {
        // Its run may have been cut off before it could say so.
        let time = Double(recorded) / 1e9
        holdings.append(
          CollectionPlan.Holding(
            lastUse: time, isPinned: unfinished.mayHaveMade(at: time), keys: [digest]))
      }
    }
    let held = try NoteTable.held(in: &database)
    let files = Dictionary(
      present.map { file in
        let isWanted =
          held.contains(file.digest) || file.stamp.modified > guardStart || file.stamp.hasOtherNames
        return (
          file.digest,
          CollectionPlan.File(byteCount: Int(file.stamp.byteCount), isProtected: isWanted)
        )
      }, uniquingKeysWith: { first, _ in first })
    return CollectionPlan(
      policy, now: Double(now) / 1e9, holdings: holdings, mentions: mentions, files: files,
      isRecent: recent)
  }

  /// Frees what the plan says, portion by portion. - Returns: the files that are gone.
  private func free(
    _ plan: CollectionPlan, _ present: [ArtifactFile], guardStart: Int64
  ) throws(StoreError) -> Set<Digest> {
    let files = Dictionary(present.map { ($0.digest, $0) }, uniquingKeysWith: { first, _ in first })
    var freed: Set<Digest> = []
    for portion in plan.portions {
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

  /// Strikes from the database, and then from the records, what is about to go.
  private func strike(_ portion: CollectionPlan.Portion) throws(StoreError) {
    if portion.keys.isEmpty && portion.sound.isEmpty { return }
    try withDatabase { (database) throws(StoreError) in
      try database.transaction(to: "free room in") { (database) throws(StoreError) in
        for key in portion.keys { try CheckpointTable.remove(key.hex, from: &database) }
        for artifact in portion.sound {
          _ = try CheckpointTable.strike(artifact, from: &database)
        }
      }
    }
    for key in portion.keys { try records.remove(records.path(of: Checkpoint.Key(key))) }
  }

  /// Deletes a file, unless a run has asked for it since, or it has come to be named.
  /// - Returns: whether it is gone.
  private func remove(
    _ file: ArtifactFile, unlessWantedSince start: Int64
  ) throws(StoreError) -> Bool {
    let isNamed = try withDatabase { (database) throws(StoreError) in
      if try CheckpointTable.names(file.digest, in: &database) { return true }
      return try NoteTable.holds(file.digest, in: &database)
    }
    guard !isNamed, let stamp = try? FileStamp(at: file.path), stamp.modified <= start,
      !stamp.hasOtherNames
    else { return false }
    return try doing("delete", file.path) { () throws(SystemError) in
      do throws(SystemError) {
        try files.unlink(file.path)
      } catch {
        if error.code != ENOENT { throw error }
      }
      return true
    }
  }
}
