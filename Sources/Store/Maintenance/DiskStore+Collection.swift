import Glibc
import PipelineModel
package import Platform

extension DiskStore {
  /// Frees what the policy allows, except originals, words and receipts, what is not delivered yet,
  /// files whose records were lost with the database, what is needed by kept, running or unfinished runs, what was used within the grace period, and what was used since the
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
    // First, as artifacts may share its files.
    let abandoned = try freeWork(policy, unfinished, isDryRun: isDryRun)
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
      let queued = try DeliveryQueue.wanted(in: &database)
      let files = present.map { file in
        let isWanted =
          originals.contains(file.digest) || queued.contains(file.digest)
          || unrecorded.contains(file.digest)
          || file.stamp.modified > start || abandoned.leaves(file.stamp)
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
        unrecorded.subtracting(originals).subtracting(queued)
      )
    }
    let going = present.filter { plan.files.contains($0.digest) }
      .sorted { ($0.stamp.byteCount, $0.path) > ($1.stamp.byteCount, $1.path) }
    var report = CollectionReport(isDryRun: isDryRun)
    report.checkpoints = plan.keys.count
    report.runs = plan.holdingCount
    report.pinned = pinned
    report.held = unfinished.names.count
    report.keptBytes =
      present.reduce(0) { $0 + Int($1.stamp.byteCount) }
      + unfinishedBytes(besides: abandoned)
    report.recentBytes =
      present.filter { $0.stamp.modified > start }.reduce(0) { $0 + Int($1.stamp.byteCount) }
      + abandoned.recentByteCount
    let graceStart = guardStart(now, policy.grace, [])
    report.runningBytes = present.filter { (start..<graceStart).contains($0.stamp.modified - 1) }
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
    for (folder, byteCount) in abandoned.folders {
      report.unfinished.append(
        CollectionReport.File(path: folder, byteCount: byteCount, kind: .unfinished))
      report.freedBytes += byteCount
    }
    if !policy.isSoundOnly {
      let kept = try irreplaceable(runs).union(listed)
      for file in try freeDamaged(
        unusedFor: max(policy.effectiveAge, policy.grace), unlessIn: kept, isDryRun: isDryRun)
      {
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

  /// The bytes of unfinished work that stays.
  private func unfinishedBytes(besides abandoned: AbandonedWork) -> Int {
    let going = Set(abandoned.folders.map(\.path))
    return FilePath.names(in: layout.work).filter(StoreLayout.isWorkName).reduce(0) { sum, name in
      let path = "\(layout.work)/\(name)"
      return going.contains(path) ? sum : sum + WorkFolder(path: path, files: files).ownByteCount
    }
  }

  /// Deletes damaged artifacts set aside so many seconds ago, except the last copy of one of `kept`;
  /// only lists them if `isDryRun`. Anything else there waits for a person.
  private func freeDamaged(
    unusedFor age: Double, unlessIn kept: Set<Digest>, isDryRun: Bool
  ) throws(SpoolError) -> [CollectionReport.File] {
    var freed: [CollectionReport.File] = []
    for name in FilePath.names(in: layout.damaged) {
      let path = "\(layout.damaged)/\(name)"
      // A rename changes the change time.
      guard let digest = Digest(hex: name), !isLastCopy(digest, among: kept),
        let stamp = try? FileStamp(at: path), now - Double(stamp.changed) / 1e9 > age
      else { continue }
      if !isDryRun {
        try doing("delete", path) { () throws(SystemError) in try files.unlink(path) }
      }
      freed.append(
        CollectionReport.File(path: path, byteCount: Int(stamp.byteCount), kind: .unnamed))
    }
    return freed
  }

  /// The artifacts that nothing can make again as they were: what came from inboxes, words, receipts.
  func irreplaceable(_ runs: [RunRecord]) throws(SpoolError) -> Set<Digest> {
    try withDatabase { (database) throws(SpoolError) in
      try RecordingTable.originals(in: &database).union(runs.flatMap(\.permanentArtifacts))
    }
  }

  /// Whether an artifact that nothing can make again is not in its place.
  func isLastCopy(_ artifact: Digest, among irreplaceable: Set<Digest>) -> Bool {
    irreplaceable.contains(artifact) && (try? FileStamp(at: layout.artifact(artifact))) == nil
  }

  /// Files used since then are kept: the grace period, or the start of the oldest running run, less the
  /// time by which a use may show as earlier: runs use old files, and store their sidecars just before
  /// they begin.
  func guardStart(_ now: Int64, _ grace: Double, _ runs: [RunRecord]) -> Int64 {
    let hour = now - Int64(grace * 1e9)
    // Runs of dead processes are recognized by their owners and hold nothing.
    let oldest = runs.filter { $0.state == .running }.map(\.startedAt).min()
    return oldest.map { min(hour, Int64($0 * 1e9) - ArtifactFolder.useFreshness) } ?? hour
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
          lastUse: run.state == .dropped ? -.infinity : run.finishedAt ?? run.startedAt,
          isPinned: run.state == .running || pinned.contains(run.id.name)
            || unfinished.names.contains(run.id.name),
          keys: keys))
    }
    var mentions: [Digest: [CollectionPlan.Mention]] = [:]
    var recent: Set<Digest> = []
    for (digest, stored) in try CheckpointTable.artifacts(in: &database) {
      mentions[digest] = stored.artifacts.map {
        CollectionPlan.Mention(
          artifact: $0.digest, isSound: $0.kind == .sound, isPermanent: $0.kind.isPermanent)
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
      recorded: Set(runs.flatMap(\.permanentArtifacts)), isRecent: recent)
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
      if try DeliveryQueue.wants(file.digest, in: &database) { return true }
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

extension ArtifactKind {
  /// Whether it is never freed by age or size: words and receipts are small, and words may have taken
  /// hours.
  fileprivate var isPermanent: Bool { self == .transcript || self == .receipt }
}

extension RunRecord {
  /// The words and receipts that it names. They are found by it, so they stay while it does, whatever a
  /// repair has done to the checkpoints that name them too.
  var permanentArtifacts: [Digest] {
    steps.flatMap { step in
      step.outputs.values.compactMap { $0.kind.isPermanent ? $0.artifact?.digest : nil }
    }
  }
}
