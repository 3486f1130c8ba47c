import Glibc
internal import PipelineModel
package import Platform

/// What a store holds, by kind and by recording. The lengths of artifacts are the database's: only files
/// without a record are looked at.
package struct StoreContents: Hashable, Sendable, Encodable {
  /// What a file of a store is.
  package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A recording that was taken from an inbox, with its sidecar and transcripts.
    case original
    /// Sound kept between stages.
    case sound
    /// Transcripts.
    case words
    /// Encoded files, from which exports are copied.
    case exports
    /// Measurements and other figures.
    case figures
    case receipts
    /// Files of passes that did not come to their end.
    case unfinished
    /// Files without a record, and damaged ones set aside.
    case unnamed
    /// The database, its backups, logs and reserves.
    case database
  }

  /// The files of one kind or of one recording.
  package struct Share: Hashable, Sendable, Codable {
    /// A kind, or a recording's file name.
    package let name: String
    package fileprivate(set) var files = 0
    package fileprivate(set) var byteCount = 0
  }

  /// The store's folder.
  package let path: String
  /// Bytes in all.
  package var byteCount: Int { kinds.reduce(0) { $0 + $1.byteCount } }
  /// Bytes free for this user on the store's disk; nil if unknown.
  package let freeByteCount: Int?
  /// The largest first.
  package let kinds: [Share]
  /// The artifacts of each recording, the largest first. One that several recordings share counts
  /// for the one that used it last.
  package let recordings: [Share]
  /// Bytes that a collection would free.
  package let collectableByteCount: Int
  /// Bytes of sound that a collection of sound alone, without a grace period, would free.
  package let soundByteCount: Int
  /// The damaged files set aside that nothing can make again, by path: no collection frees them.
  package let lastCopies: [String]
  /// When a check last found no damage; nil if never.
  package let checkedAt: DateTime?
  /// When the database was last backed up; nil if never.
  package let backedUpAt: DateTime?

  private enum CodingKeys: String, CodingKey {
    case path, freeByteCount, kinds, recordings, collectableByteCount, soundByteCount, lastCopies
    case checkedAt, backedUpAt
  }

  /// Adds files up by name, the largest first.
  package static func shares(
    _ files: some Sequence<(name: String, byteCount: Int)>
  ) -> [Share] {
    var shares: [String: Share] = [:]
    for file in files {
      shares[file.name, default: Share(name: file.name)].files += 1
      shares[file.name]?.byteCount += file.byteCount
    }
    return shares.values.sorted { ($1.byteCount, $0.name) < ($0.byteCount, $1.name) }
  }
}

/// What an artifact is, and of which recording, as the database knows.
struct ArtifactUse {
  let kind: StoreContents.Kind
  /// The recording's file name; nil if no run names the artifact.
  let recording: String?
  /// Length in bytes.
  let byteCount: Int

  /// The uses of all artifacts. O(runs + outputs).
  /// - Parameters:
  ///   - runs: the last recorded one first.
  ///   - isThere: whether a recording's file is in the store: a forgotten run may have freed it.
  static func all(
    _ runs: [RunRecord], in database: inout Database, isThere: (Digest) -> Bool
  ) throws(SpoolError) -> [Digest: ArtifactUse] {
    let action = "read checkpoints in"
    var names: [String: String] = [:]
    let originals = try database.run(
      """
      SELECT digest, file_name, byte_count FROM notes
      UNION ALL SELECT sidecar, file_name, sidecar_byte_count FROM notes WHERE sidecar IS NOT NULL
      UNION ALL SELECT note_files.digest, file_name, note_files.byte_count
        FROM note_files JOIN notes ON note = key WHERE note_files.digest IS NOT NULL
      """, to: action)
    for row in originals { names[row[0].text ?? ""] = row[1].text }
    var recordings: [Digest: String] = [:]
    let paths = FilePath.shortNames(of: runs.compactMap { $0.recordingPath(unless: names) })
    for run in runs {
      guard
        let name = run.nameInInbox(names)
          ?? run.recordingPath(unless: names).flatMap({ paths[$0] })
      else { continue }
      for key in run.steps.compactMap({ $0.key?.digest }) where recordings[key] == nil {
        recordings[key] = name
      }
    }
    var uses: [Digest: ArtifactUse] = [:]
    for row in try database.run(
      "SELECT artifact, kind, byte_count, key FROM outputs WHERE artifact IS NOT NULL", to: action)
    {
      guard let artifact = row[0].text.flatMap(Digest.init(hex:)), let byteCount = row[2].integer
      else { continue }
      let recording = row[3].text.flatMap(Digest.init(hex:)).flatMap { recordings[$0] }
      // What is kept as a file is no mere sound, and a name is better than none.
      if let known = uses[artifact], known.kind != .sound, known.recording != nil { continue }
      uses[artifact] = ArtifactUse(
        kind: .init(row[1].text.flatMap(ArtifactKind.init(rawValue:))),
        recording: recording ?? uses[artifact]?.recording, byteCount: Int(byteCount))
    }
    for row in originals {
      guard let artifact = row[0].text.flatMap(Digest.init(hex:)), isThere(artifact) else {
        continue
      }
      uses[artifact] = ArtifactUse(
        kind: .original, recording: row[1].text, byteCount: Int(row[2].integer ?? 0))
    }
    return uses
  }
}

extension StoreContents.Kind {
  fileprivate init(_ kind: ArtifactKind?) {
    self =
      switch kind {
      case .sound: .sound
      case .transcript: .words
      case .file: .exports
      case .measurement: .figures
      case .receipt: .receipts
      case nil: .unnamed
      }
  }
}

extension RunRecord {
  /// The path of its first recording; nil where that came from an inbox.
  /// - Parameter names: the file names of recordings from inboxes, by their digests.
  fileprivate func recordingPath(unless names: [String: String]) -> String? {
    nameInInbox(names) == nil ? inputs.min { $0.key < $1.key }?.value : nil
  }

  /// The file name of its first recording in an inbox; nil where it came from elsewhere.
  fileprivate func nameInInbox(_ names: [String: String]) -> String? {
    inputs.min { $0.key < $1.key }.flatMap { recordings?[$0.key] }.flatMap { names[$0.hex] }
  }
}

extension DiskStore {
  /// What the store holds, and what a collection by this policy would free. Looks at no artifacts'
  /// files but those of recordings, those without a record, and those that would go.
  /// O(runs + checkpoints + recordings + files).
  package func contents(_ policy: CollectionPolicy) throws(SpoolError) -> StoreContents {
    let runs = try runs.everyRun()
    let now = clock()
    let unfinished = UnfinishedRuns(runs)
    let lost = LostRecords(layout: layout, files: files).digests
    let recorded = Set(runs.flatMap(\.permanentArtifacts))
    let abandoned = try freeWork(policy, unfinished, isDryRun: true)
    let abandonedWithSound = try freeWork(.allSound, unfinished, isDryRun: true)
    let (uses, freed, soundFreed) = try withDatabase {
      (database) throws(SpoolError) -> ([Digest: ArtifactUse], Int, Int) in
      var uses = try ArtifactUse.all(runs, in: &database) { isThere($0) }
      let unnamed = ArtifactFile.all(in: layout, besides: { uses[$0] != nil }).files
      for file in unnamed {
        uses[file.digest] = ArtifactUse(
          kind: recorded.contains(file.digest) ? .words : .unnamed, recording: nil,
          byteCount: Int(file.stamp.byteCount))
      }
      let pinned = try PinTable.pinned(among: runs, in: &database)
      let originals = try RecordingTable.originals(in: &database).union(
        unnamed.map(\.digest).filter(lost.contains)
      ).union(try DeliveryQueue.wanted(in: &database))
      func freedByteCount(
        _ policy: CollectionPolicy, _ abandoned: AbandonedWork
      ) throws(SpoolError) -> Int {
        let start = guardStart(now, policy.grace, runs)
        func plan(_ isProtected: (Digest) -> Bool) throws(SpoolError) -> CollectionPlan {
          let files = uses.map { digest, use in
            (
              digest,
              CollectionPlan.File(byteCount: use.byteCount, isProtected: isProtected(digest))
            )
          }
          return try self.plan(
            policy, now: now, guardStart: start, runs, unfinished, pinned,
            Dictionary(files, uniquingKeysWith: { first, _ in first }), &database)
        }
        // Only the stamps of the files that might go are read.
        let first = try plan(originals.contains)
        let wanted = first.files.filter { isWanted($0, since: start, besides: abandoned) }
        if wanted.isEmpty { return first.freedBytes }
        return try plan { originals.contains($0) || wanted.contains($0) }.freedBytes
      }
      return (
        uses, try freedByteCount(policy, abandoned) + abandoned.byteCount,
        try freedByteCount(.allSound, abandonedWithSound) + abandonedWithSound.byteCount
      )
    }
    let work = FilePath.names(in: layout.work).filter(StoreLayout.isWorkName).map {
      WorkFolder(path: "\(layout.work)/\($0)", files: files).ownByteCount
    }
    let damaged = FilePath.names(in: layout.damaged)
    let kept = try irreplaceable(runs).union(lost)
    let lastCopies = damaged.filter { name in
      Digest(hex: name).map { isLastCopy($0, among: kept) } ?? true
    }
    func damagedPath(_ name: String) -> String { "\(layout.damaged)/\(name)" }
    var parts: [(StoreContents.Kind, Int)] = uses.values.map { ($0.kind, $0.byteCount) }
    parts += work.map { (.unfinished, $0) }
    parts += damaged.map { (.unnamed, Self.byteCount(damagedPath($0))) }
    parts += layout.bookkeeping.map { (.database, Self.byteCount($0)) }
    return StoreContents(
      path: path, freeByteCount: try? Self.freeByteCount(inFolder: path),
      kinds: StoreContents.shares(
        parts.lazy.filter { $0.1 > 0 }.map { ($0.0.rawValue, $0.1) }),
      recordings: StoreContents.shares(
        uses.values.lazy.compactMap { use in use.recording.map { ($0, use.byteCount) } }),
      collectableByteCount: freed, soundByteCount: soundFreed,
      lastCopies: lastCopies.map { damagedPath($0) }.sorted(),
      checkedAt: Self.modified(layout.lastCheck).map(DateTime.init(secondsSince1970:)),
      backedUpAt: Self.modified(backups.path(1)).map(DateTime.init(secondsSince1970:)))
  }

  private func isThere(_ artifact: Digest) -> Bool {
    (try? FileStamp(at: layout.artifact(artifact))) != nil
  }

  /// Whether an artifact's file was used lately, or belongs to unfinished work.
  private func isWanted(
    _ artifact: Digest, since start: Int64, besides abandoned: AbandonedWork
  ) -> Bool {
    guard let stamp = try? FileStamp(at: layout.artifact(artifact)) else { return false }
    return stamp.modified > start || abandoned.leaves(stamp)
  }

  /// In seconds since 1970; nil without a file.
  private static func modified(_ path: String) -> Double? {
    (try? FileStamp(at: path)).map { Double($0.modified) / 1e9 }
  }

  private static func byteCount(_ path: String) -> Int {
    (try? FileStamp(at: path)).map { Int($0.byteCount) } ?? 0
  }

  /// Records that a check has just found no damage. Does nothing where nothing can be written: the
  /// time is only shown.
  package static func noteCheck(ofStore path: String) {
    touch(StoreLayout(root: FilePath.absolute(path)).lastCheck)
  }

  /// Seconds between two collections that run by themselves.
  private static let collectionInterval = 86_400.0

  /// Frees what the policy allows, if that was not done in the last day; not in a new store.
  /// - Returns: nil if it was not due, or if nothing can be written.
  package func collectIfDue(
    _ policy: CollectionPolicy, shouldStop: () -> Bool = { false }
  ) throws(SpoolError) -> CollectionReport? {
    let last = Self.modified(layout.lastCollection)
    if let last, (0..<Self.collectionInterval).contains(now - last) { return nil }
    // First, so that no other process does it too.
    guard Self.touch(layout.lastCollection), last != nil else { return nil }
    return try collect(policy, shouldStop: shouldStop)
  }

  /// Makes an empty file, or gives it the present time.
  /// - Returns: whether that was possible.
  @discardableResult
  private static func touch(_ path: String) -> Bool {
    let files = FileOperations.system
    guard let file = try? files.open(path, O_WRONLY | O_CREAT, mode: 0o600) else { return false }
    return withExtendedLifetime(file) { (try? FilePath.touch(path)) != nil }
  }
}

extension StoreLayout {
  /// The files beside the artifacts that keep the store itself.
  fileprivate var bookkeeping: [String] {
    let logs = FilePath.names(in: root).filter { $0.hasPrefix("changes-") }.map { "\(root)/\($0)" }
    let slots = FilePath.names(in: backups).map { "\(backups)/\($0)" }
    return logs + slots
      + [database, database + "-wal", database + "-shm", ballast, receiptLog, receiptHead]
  }
}
