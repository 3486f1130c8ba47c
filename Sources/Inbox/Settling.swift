/// Decides which files of an inbox are whole. It has no clock, no thread and no file: it is told
/// what looks have found and what time it is, and says what to do next.
struct Settling {
  /// Something to do, or something to report.
  enum Step: Hashable {
    /// Open a resting recording and look whether it is whole.
    case examine(InboxPath)
    /// A recording is whole, and belongs to this version of the file.
    case settled(SettledRecording)
    /// A recording rests, and will never be whole; the text says why.
    case hopeless(SettledRecording, String)
    /// A file rests, and is no recording.
    case ignored(InboxPath)
    /// A sidecar rests.
    case sidecar(InboxPath, FileStamp)
    /// A command rests.
    case command(InboxPath, FileStamp)
    /// A file ought to have settled by now. Reported once; it may settle later all the same.
    case unsettled(InboxPath, Unsettled)
  }

  let rules: SettlingRules
  private var entries: [InboxPath: SettlingEntry] = [:]

  /// Begins with no files.
  init(rules: SettlingRules) { self.rules = rules }

  /// How many files are being followed.
  var count: Int { entries.count }

  /// Whether a file is being followed.
  func contains(_ path: InboxPath) -> Bool { entries[path] != nil }

  /// What a file that is being followed was at the last look; nil for others.
  func stamp(of path: InboxPath) -> FileStamp? { entries[path]?.stamp }

  /// Notes what a look at a file found, and begins to follow it where it is new. O(1).
  mutating func note(_ stamp: FileStamp, at path: InboxPath, now: Duration) {
    if entries[path] != nil {
      entries[path]?.note(stamp, rules: rules, at: now)
    } else if let role = path.name.flatMap({ EntryRole(of: $0, rules: rules) }) {
      entries[path] = SettlingEntry(stamp, role: role, at: now)
    }
  }

  /// Notes what opening a file has shown, unless the file is another one by now. O(1).
  mutating func note(
    _ shown: Examination, of stamp: FileStamp, at path: InboxPath, now: Duration
  ) {
    guard entries[path]?.stamp == stamp else { return }
    entries[path]?.note(shown, rules: rules, at: now)
  }

  /// Follows a file no longer. O(1).
  mutating func forget(_ path: InboxPath) { entries[path] = nil }

  /// The files that want a look. O(n).
  func due(at now: Duration) -> [InboxPath] {
    entries.filter { $0.value.nextLook <= now && !$0.value.isAnnounced }.map(\.key)
  }

  /// When the next file wants a look; nil where none does. O(n).
  var nextLook: Duration? {
    entries.values.lazy.filter { !$0.isAnnounced }.map(\.nextLook).min()
  }

  /// What is to be done now, the files that came first before the others. Whatever is reported as
  /// settled is followed no longer. O(n), and O(m log m) for m steps.
  mutating func steps(at now: Duration) -> [Step] {
    var found: [(since: Duration, path: InboxPath, step: Step)] = []
    for (path, entry) in entries where !entry.isAnnounced {
      if let step = step(for: path, entry, at: now) { found.append((entry.firstSeen, path, step)) }
    }
    return found.sorted {
      $0.since != $1.since
        ? $0.since < $1.since : $0.path.bytes.lexicographicallyPrecedes($1.path.bytes)
    }.map(\.step)
  }

  /// What is to be done now about one file. O(1).
  mutating func steps(for path: InboxPath, at now: Duration) -> [Step] {
    guard let entry = entries[path], !entry.isAnnounced else { return [] }
    return step(for: path, entry, at: now).map { [$0] } ?? []
  }

  private mutating func step(
    for path: InboxPath, _ entry: SettlingEntry, at now: Duration
  ) -> Step? {
    guard entry.isAtRest(rules, at: now) else { return overdueGrowth(path, entry, at: now) }
    switch entry.role {
    case .recording: return recordingStep(path, entry, at: now)
    case .marker:
      entries[path]?.isAnnounced = true
      return nil
    case .sidecar:
      entries[path]?.isAnnounced = true
      return .sidecar(path, entry.stamp)
    case .command:
      entries[path] = nil
      return .command(path, entry.stamp)
    }
  }

  private mutating func recordingStep(
    _ path: InboxPath, _ entry: SettlingEntry, at now: Duration
  ) -> Step? {
    if entry.isToBeExamined(rules, at: now) { return .examine(path) }
    guard case .examined(let verdict, _, let nameCount) = entry.examination else {
      return overdueGrowth(path, entry, at: now)
    }
    if verdict == .foreign {
      entries[path] = nil
      return .ignored(path)
    }
    // Whoever sets markers says himself when a file is to be judged.
    guard isMarked(path) else {
      guard now - entry.firstSeen >= rules.patience else { return nil }
      return report(.markerMissing, of: path)
    }
    switch verdict {
    case .incomplete, .empty:
      guard let limit = entry.limit(rules), now - entry.lastChange >= limit else { return nil }
      return giveUp(path, entry, verdict, nameCount, at: now)
    case .undecided(let reason):
      guard now - entry.lastChange >= rules.patience else { return nil }
      return report(.unreadable(reason), of: path)
    case .whole, .foreign: break
    }
    let sidecar = sidecar(of: path)
    if sidecar == nil {
      switch rules.sidecar {
      case .taken, .ignored: break
      case .awaited(let limit): if now - entry.firstSeen < limit { return nil }
      case .required(let limit):
        guard now - entry.firstSeen >= limit else { return nil }
        return report(.sidecarMissing, of: path)
      }
    } else if let sidecar, entries[sidecar]?.isAnnounced == false {
      // It is still being written, and will rest soon.
      return nil
    }
    entries[path] = nil
    return .settled(
      SettledRecording(path: path, stamp: entry.stamp, sidecar: sidecar, nameCount: nameCount))
  }

  private mutating func giveUp(
    _ path: InboxPath, _ entry: SettlingEntry, _ verdict: ContainerVerdict, _ nameCount: Int,
    at now: Duration
  ) -> Step {
    let recording = SettledRecording(
      path: path, stamp: entry.stamp, sidecar: sidecar(of: path), nameCount: nameCount)
    entries[path] = nil
    guard case .incomplete(let what) = verdict else { return .hopeless(recording, "it is empty") }
    let rest = (now - entry.lastChange).components.seconds
    return .hopeless(recording, "it is not whole, and has not changed for \(rest) s: \(what)")
  }

  /// For files that never rest, or that somebody keeps open for writing.
  private mutating func overdueGrowth(
    _ path: InboxPath, _ entry: SettlingEntry, at now: Duration
  ) -> Step? {
    guard now - entry.firstSeen >= rules.growthLimit else { return nil }
    return report(.stillWritten, of: path)
  }

  private mutating func report(_ reason: Unsettled, of path: InboxPath) -> Step? {
    guard entries[path]?.reported.insert(reason).inserted == true else { return nil }
    return .unsettled(path, reason)
  }

  private func isMarked(_ path: InboxPath) -> Bool {
    guard let suffix = rules.doneMarker, let name = path.name else { return true }
    return [name.bytes, name.stem].contains { base in
      FileName(bytes: base + suffix.utf8).map { contains(path.folder.appending($0)) } ?? false
    }
  }

  private func sidecar(of path: InboxPath) -> InboxPath? {
    guard rules.sidecar != .ignored, let name = path.name else { return nil }
    return SidecarName.candidates(for: name).map(path.folder.appending).first(where: contains)
  }
}
