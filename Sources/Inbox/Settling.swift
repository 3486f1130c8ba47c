/// Decides which files of an inbox are whole. It has no clock, no thread and no file: it is told
/// what looks have found and what time it is, and says what to do next.
struct Settling {
  /// Something to do, or something to report.
  enum Step: Hashable {
    /// Open a resting recording and look whether it is whole.
    case examine(InboxPath)
    /// Find out how long the sound of a whole recording is.
    case measure(InboxPath)
    /// A recording is whole, and belongs to this version of the file.
    case settled(SettledRecording)
    /// A recording rests, and will never be whole; the text says why.
    case hopeless(SettledRecording, String)
    /// A file rests, and is no recording.
    case ignored(InboxPath)
    /// A sidecar rests.
    case sidecar(InboxPath, FileStamp)
    /// A transcript rests.
    case transcript(InboxPath, FileStamp)
    /// A command rests.
    case command(InboxPath, FileStamp)
    /// A file ought to have settled by now. Reported once; it may settle later all the same.
    case unsettled(InboxPath, Unsettled)
    /// A file waits for this; told where it has changed.
    case waiting(InboxPath, String)
  }

  let rules: SettlingRules
  var entries: [InboxPath: SettlingEntry] = [:]

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

  /// Notes how long the sound of a recording is, or is said to be by a sidecar, unless the file is
  /// another one by now. O(1).
  mutating func note(_ length: SettlingEntry.Length, of stamp: FileStamp, at path: InboxPath) {
    guard entries[path]?.stamp == stamp else { return }
    entries[path]?.note(length)
  }

  /// Notes what the text of a JSON file tells of transcripts, unless the file is another one by now.
  /// O(1).
  mutating func note(
    _ words: SettlingEntry.Words?, of stamp: FileStamp, at path: InboxPath
  ) {
    guard entries[path]?.stamp == stamp else { return }
    entries[path]?.note(words)
  }

  /// Notes an event that tells of a file's writers. O(1).
  mutating func noteWriter(isAtWork: Bool, at path: InboxPath) {
    entries[path]?.noteWriter(isAtWork: isAtWork)
  }

  /// Forgets what events have told of writers. O(n).
  mutating func forgetWriters() {
    for path in entries.keys { entries[path]?.forgetWriters() }
  }

  /// What a file that is being followed is there for; nil for others.
  func role(of path: InboxPath) -> EntryRole? { entries[path]?.role }

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
      if let step = step(for: path, entry, at: now) ?? news(of: path, entry, at: now) {
        found.append((entry.firstSeen, path, step))
      }
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
}
