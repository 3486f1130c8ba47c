import Platform

/// Decides which files of an inbox are complete. It reads no clock and no file and has no thread:
/// its inputs are checks and times, its output is the next events.
struct StabilityTracker {
  let rules: StabilityRules
  var entries: [InboxPath: StabilityEntry] = [:]

  init(rules: StabilityRules) { self.rules = rules }

  var count: Int { entries.count }

  func contains(_ path: InboxPath) -> Bool { entries[path] != nil }

  /// The stamp at the last check; nil for a file that is not followed.
  func stamp(of path: InboxPath) -> FileStamp? { entries[path]?.stamp }

  /// Records a check, and begins to follow a new file. O(1).
  mutating func record(_ stamp: FileStamp, at path: InboxPath, now: Duration) {
    if entries[path] != nil {
      entries[path]?.record(stamp, rules: rules, at: now)
    } else if let role = path.name.flatMap({ EntryRole(of: $0, rules: rules) }) {
      entries[path] = StabilityEntry(stamp, role: role, at: now)
    }
  }

  /// Records the result of opening a file, unless its version has changed since. O(1).
  mutating func record(
    _ shown: Examination, of stamp: FileStamp, at path: InboxPath, now: Duration
  ) {
    guard entries[path]?.stamp == stamp else { return }
    entries[path]?.record(shown, rules: rules, at: now)
  }

  /// Records a sound's length, or that declared by a sidecar, unless the file's version has changed
  /// since. O(1).
  mutating func record(_ length: StabilityEntry.Length, of stamp: FileStamp, at path: InboxPath) {
    guard entries[path]?.stamp == stamp else { return }
    entries[path]?.record(length)
  }

  /// Records what a JSON file says about transcripts, unless its version has changed since. O(1).
  mutating func record(
    _ words: StabilityEntry.Words?, of stamp: FileStamp, at path: InboxPath
  ) {
    guard entries[path]?.stamp == stamp else { return }
    entries[path]?.record(words)
  }

  /// Records an event about a file's writers. O(1).
  mutating func recordWriter(isAtWork: Bool, at path: InboxPath) {
    entries[path]?.recordWriter(isAtWork: isAtWork)
  }

  /// Forgets all writers. O(n).
  mutating func forgetWriters() {
    for path in entries.keys { entries[path]?.forgetWriters() }
  }

  /// Nil for a file that is not followed.
  func role(of path: InboxPath) -> EntryRole? { entries[path]?.role }

  mutating func forget(_ path: InboxPath) { entries[path] = nil }

  /// The files to check now. O(n).
  func due(at now: Duration) -> [InboxPath] {
    entries.filter { $0.value.nextLook <= now && !$0.value.isAnnounced }.map(\.key)
  }

  /// When the next check is due; nil if none is. O(n).
  var nextLook: Duration? {
    entries.values.lazy.filter { !$0.isAnnounced }.map(\.nextLook).min()
  }

  /// The events that are due now, oldest files first. A file that is reported as stable is not
  /// followed any more. O(n), and O(m log m) for m events.
  mutating func events(at now: Duration) -> [InboxEvent] {
    var found: [(since: Duration, path: InboxPath, event: InboxEvent)] = []
    for (path, entry) in entries where !entry.isAnnounced {
      if let event = event(of: path, entry, at: now) ?? news(of: path, entry, at: now) {
        found.append((entry.firstSeen, path, event))
      }
    }
    return found.sorted {
      $0.since != $1.since
        ? $0.since < $1.since : $0.path.bytes.lexicographicallyPrecedes($1.path.bytes)
    }.map(\.event)
  }

  /// The event of one file that is due now; nil if none is. O(1).
  mutating func event(of path: InboxPath, at now: Duration) -> InboxEvent? {
    guard let entry = entries[path], !entry.isAnnounced else { return nil }
    return event(of: path, entry, at: now)
  }
}

/// Why files wait, for status queries.
extension StabilityTracker {
  /// Why a file waits, if that has changed since its last report.
  mutating func news(of path: InboxPath, _ entry: StabilityEntry, at now: Duration) -> InboxEvent? {
    // Most files are stable before any query.
    guard now - entry.firstSeen > rules.restPeriod + .seconds(1),
      let text = waiting(of: path, entry, at: now), text != entry.toldWaiting
    else { return nil }
    entries[path]?.toldWaiting = text
    return .waiting(path, text)
  }

  private func waiting(of path: InboxPath, _ entry: StabilityEntry, at now: Duration) -> String? {
    switch entry.role {
    case .marker, .command: return nil
    case .sidecar, .transcript, .recording: break
    }
    guard entry.isAtRest(rules, at: now) else { return "it is still changing" }
    switch entry.examination {
    case nil: return nil
    case .beingWritten: return "somebody has it open for writing"
    case .examined(.incomplete(let what), _, _): return "it is not whole yet: \(what)"
    case .examined(.unended(let what), _, _): return "it may not be whole yet: \(what)"
    case .examined(.unreadable(let what), _, _): return "it does not read: \(what)"
    case .examined(.empty, _, _): return "it is empty"
    case .examined(.undecided(let what), _, _): return "it cannot be examined: \(what)"
    case .examined(.foreign, _, _): return nil
    case .examined(.openEnded, _, _) where isOpen(path, entry, at: now):
      return "nothing in it tells where it ends: its writer may go on"
    case .examined(.openEnded, _, _), .examined(.whole, _, _): break
    }
    if entry.role != .recording { return nil }
    if !isMarked(path) { return "the file that says that it is complete is missing" }
    let sidecar = sidecar(of: path)
    if waitForSidecar(sidecar, of: path, entry, at: now) != .settle {
      if sidecar == nil { return "its sidecar is missing" }
      return sidecarProblem(of: path).map { "its sidecar does not read: \($0)" }
        ?? "its sidecar is still being written"
    }
    if isWaitingForTranscript(path) { return "its transcript is still being written" }
    if let name = missingTranscript(of: path, entry, at: now) {
      return "\(name), which its sidecar names, is missing"
    }
    guard let declared = sidecar.flatMap({ declaredLength($0) }), let length = entry.length else {
      return nil
    }
    return Self.shortness(of: length, declared)
  }
}

/// The files beside a recording that describe it.
extension StabilityTracker {
  enum SidecarWait: Hashable {
    case settle
    case wait
    /// It waits too long already.
    case report(Unsettled)
  }

  /// Whether a complete recording waits for its sidecar to come, or to become readable.
  func waitForSidecar(
    _ sidecar: InboxPath?, of path: InboxPath, _ entry: StabilityEntry, at now: Duration
  ) -> SidecarWait {
    guard let sidecar, let found = entries[sidecar] else {
      switch rules.sidecar {
      case .taken, .ignored: return .settle
      case .awaited(let limit): return now - entry.firstSeen < limit ? .wait : .settle
      case .required(let limit):
        return now - entry.firstSeen < limit ? .wait : .report(.sidecarMissing)
      }
    }
    // It is still being written, or is not readable yet.
    guard found.isAnnounced else { return .wait }
    if case .required = rules.sidecar, let problem = found.examination?.sidecarProblem {
      return .report(.sidecarUnreadable(problem))
    }
    return .settle
  }

  /// Nil if it is readable, or not examined.
  func sidecarProblem(of path: InboxPath) -> String? {
    sidecar(of: path).flatMap { entries[$0]?.examination?.sidecarProblem }
  }

  /// A sidecar's declared length in milliseconds; nil if it declares none.
  func declaredLength(_ sidecar: InboxPath) -> Int? {
    guard case .known(let milliseconds)? = entries[sidecar]?.length else { return nil }
    return milliseconds
  }

  /// A message if the sound is clearly shorter than its sidecar declares; else nil. Devices measure
  /// from button to button, so a twentieth, or two seconds, is within tolerance.
  static func shortness(of length: StabilityEntry.Length, _ declared: Int) -> String? {
    guard case .known(let held) = length, declared - held > max(2000, declared / 20) else {
      return nil
    }
    return "its sidecar says \(seconds(declared)) s, and it holds \(seconds(held)) s of sound"
  }

  /// Seconds with one decimal.
  private static func seconds(_ milliseconds: Int) -> String {
    "\(milliseconds / 1000).\(milliseconds % 1000 / 100)"
  }

  /// Whether a recording needs no marker, or has it.
  func isMarked(_ path: InboxPath) -> Bool { rules.doneMarker == nil || marker(of: path) != nil }

  func marker(of path: InboxPath) -> InboxPath? {
    guard let suffix = rules.doneMarker, let name = path.name else { return nil }
    return [name.bytes, name.stem].lazy
      .compactMap { FileName(bytes: $0 + suffix.utf8).map(path.folder.appending) }
      .first(where: contains)
  }

  func sidecar(of path: InboxPath) -> InboxPath? {
    guard rules.sidecar != .ignored, let name = path.name else { return nil }
    return SidecarName.candidates(for: name).map(path.folder.appending)
      .first { entries[$0].map { $0.words != .itself } ?? false }
  }

  /// The possible transcripts of a recording: the file that its sidecar names, and those beside it
  /// under its name.
  func transcripts(of path: InboxPath) -> [InboxPath] {
    guard rules.takesTranscripts, let name = path.name else { return [] }
    var names = TranscriptName.candidates(for: name) + SidecarName.candidates(for: name)
    if let sidecar = sidecar(of: path), case .file(let named)? = entries[sidecar]?.words {
      names = [named] + names.filter { $0 != named }
    }
    return names.map(path.folder.appending).filter(isTranscript)
  }

  private func isTranscript(_ path: InboxPath) -> Bool {
    entries[path].map { $0.role == .transcript || $0.words == .itself } ?? false
  }

  /// Whether a possible transcript of a recording is not stable yet.
  func isWaitingForTranscript(_ path: InboxPath) -> Bool {
    guard rules.takesTranscripts, let name = path.name else { return false }
    let others = rules.sidecar == .ignored ? [] : SidecarName.candidates(for: name)
    return (transcripts(of: path) + others.map(path.folder.appending))
      .contains { entries[$0].map { !$0.isAnnounced } ?? false }
  }
}

extension StabilityTracker {
  /// The transcript that a recording's sidecar names and that has not come; nil if it is not waited for, or
  /// no longer: it may come as late as an unreadable sidecar.
  private func missingTranscript(
    of path: InboxPath, _ entry: StabilityEntry, at now: Duration
  ) -> FileName? {
    guard rules.takesTranscripts, let sidecar = sidecar(of: path), let found = entries[sidecar],
      case .file(let name)? = found.words, TranscriptName.isLikely(name.description),
      !contains(path.folder.appending(name)),
      now - max(entry.firstSeen, found.lastChange) < rules.sidecarLimit
    else { return nil }
    return name
  }
}

/// The next event for each kind of file.
extension StabilityTracker {
  private mutating func event(
    of path: InboxPath, _ entry: StabilityEntry, at now: Duration
  ) -> InboxEvent? {
    guard entry.isAtRest(rules, at: now) else { return overdueGrowth(path, entry, at: now) }
    switch entry.role {
    case .marker:
      entries[path]?.isAnnounced = true
      return nil
    case .command:
      entries[path] = nil
      return .command(path, entry.stamp)
    case .recording, .sidecar, .transcript: break
    }
    if entry.isToBeExamined(rules, at: now) { return .atRest(path) }
    guard case .examined(let verdict, _, let nameCount) = entry.examination else {
      return overdueGrowth(path, entry, at: now)
    }
    if verdict == .foreign {
      entries[path] = nil
      return .ignored(path)
    }
    if entry.role == .recording { return recordingEvent(path, entry, verdict, nameCount, at: now) }
    // A truncated sidecar is waited for like half a recording. An invalid one delays nothing.
    if case .incomplete = verdict, now - entry.lastChange < rules.sidecarLimit { return nil }
    entries[path]?.isAnnounced = true
    return entry.role == .transcript || entry.words == .itself
      ? .transcript(path, entry.stamp) : .sidecar(path, entry.stamp)
  }

  private mutating func recordingEvent(
    _ path: InboxPath, _ entry: StabilityEntry, _ verdict: ContainerVerdict, _ nameCount: Int,
    at now: Duration
  ) -> InboxEvent? {
    // With markers, the sender decides when a file is judged.
    guard isMarked(path) else {
      guard now - entry.firstSeen >= rules.patience else { return nil }
      return report(.markerMissing, of: path)
    }
    let hasRestedLong = entry.limit(rules).map { now - entry.lastChange >= $0 } ?? true
    var doubt: String?
    switch verdict {
    case .incomplete, .empty:
      return hasRestedLong ? giveUp(path, entry, verdict, nameCount, at: now) : nil
    case .unended(let what):
      guard hasRestedLong else { return nil }
      doubt = what
    case .undecided(let reason):
      guard now - entry.lastChange >= rules.patience else { return nil }
      return report(.unreadable(reason), of: path)
    case .openEnded where isOpen(path, entry, at: now): return nil
    case .openEnded, .whole, .foreign, .unreadable: break
    }
    let sidecar = sidecar(of: path)
    switch waitForSidecar(sidecar, of: path, entry, at: now) {
    case .settle: break
    case .wait: return nil
    case .report(let reason): return report(reason, of: path)
    }
    if isWaitingForTranscript(path) || missingTranscript(of: path, entry, at: now) != nil {
      return nil
    }
    if let declared = sidecar.flatMap({ declaredLength($0) }) {
      guard let length = entry.length else { return .unmeasured(path) }
      if let shortness = Self.shortness(of: length, declared) {
        guard now - entry.lastChange >= rules.patience else { return nil }
        doubt = doubt ?? shortness
      }
    }
    entries[path] = nil
    let rest = (now - entry.lastChange).components.seconds
    return .settled(
      StableRecording(
        path: path, stamp: entry.stamp, sidecar: sidecar, nameCount: nameCount,
        transcripts: transcripts(of: path), marker: marker(of: path),
        doubt: doubt.map { "\($0), and it has not changed for \(rest) s" }))
  }

  /// Whether more of a recording may come whose form tells no end: it has not rested for long, and no
  /// sidecar says how long it is.
  private func isOpen(_ path: InboxPath, _ entry: StabilityEntry, at now: Duration) -> Bool {
    guard let limit = entry.limit(rules), now - entry.lastChange < limit else { return false }
    return sidecar(of: path).flatMap { declaredLength($0) } == nil
  }

  private mutating func giveUp(
    _ path: InboxPath, _ entry: StabilityEntry, _ verdict: ContainerVerdict, _ nameCount: Int,
    at now: Duration
  ) -> InboxEvent {
    let recording = StableRecording(
      path: path, stamp: entry.stamp, sidecar: sidecar(of: path), nameCount: nameCount,
      transcripts: transcripts(of: path), marker: marker(of: path))
    entries[path] = nil
    guard case .incomplete(let what) = verdict else {
      return .hopeless(recording, reason: "it is empty")
    }
    let rest = (now - entry.lastChange).components.seconds
    return .hopeless(
      recording, reason: "it is not whole, and has not changed for \(rest) s: \(what)")
  }

  /// For files that keep changing or stay open for writing.
  private mutating func overdueGrowth(
    _ path: InboxPath, _ entry: StabilityEntry, at now: Duration
  ) -> InboxEvent? {
    guard now - entry.firstSeen >= rules.growthLimit else { return nil }
    return report(.stillWritten, of: path)
  }

  private mutating func report(_ reason: Unsettled, of path: InboxPath) -> InboxEvent? {
    guard entries[path]?.reported.insert(reason).inserted == true else { return nil }
    return .unsettled(path, reason)
  }
}
