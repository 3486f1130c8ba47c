/// What is to be done about each kind of file.
extension Settling {
  mutating func step(
    for path: InboxPath, _ entry: SettlingEntry, at now: Duration
  ) -> Step? {
    guard entry.isAtRest(rules, at: now) else { return overdueGrowth(path, entry, at: now) }
    switch entry.role {
    case .recording: return recordingStep(path, entry, at: now)
    case .marker:
      entries[path]?.isAnnounced = true
      return nil
    case .sidecar: return sidecarStep(path, entry, at: now)
    case .transcript: return transcriptStep(path, entry, at: now)
    case .command:
      entries[path] = nil
      return .command(path, entry.stamp)
    }
  }

  /// A sidecar that ends too early may be half of one: it is waited for like half a recording. One
  /// that will never read holds nobody up.
  private mutating func sidecarStep(
    _ path: InboxPath, _ entry: SettlingEntry, at now: Duration
  ) -> Step? {
    if entry.isToBeExamined(rules, at: now) { return .examine(path) }
    guard case .examined(let verdict, _, _) = entry.examination else {
      return overdueGrowth(path, entry, at: now)
    }
    if case .incomplete = verdict, now - entry.lastChange < rules.sidecarLimit { return nil }
    entries[path]?.isAnnounced = true
    return entry.words == .itself ? .transcript(path, entry.stamp) : .sidecar(path, entry.stamp)
  }

  private mutating func transcriptStep(
    _ path: InboxPath, _ entry: SettlingEntry, at now: Duration
  ) -> Step? {
    if entry.isToBeExamined(rules, at: now) { return .examine(path) }
    guard case .examined(let verdict, _, _) = entry.examination else {
      return overdueGrowth(path, entry, at: now)
    }
    if verdict == .foreign {
      entries[path] = nil
      return .ignored(path)
    }
    entries[path]?.isAnnounced = true
    return .transcript(path, entry.stamp)
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
    case .whole, .foreign, .unreadable: break
    }
    let sidecar = sidecar(of: path)
    switch waitForSidecar(sidecar, of: path, entry, at: now) {
    case .settle: break
    case .wait: return nil
    case .report(let reason): return report(reason, of: path)
    }
    if isWaitingForTranscript(path) { return nil }
    if let declared = sidecar.flatMap({ declaredLength($0) }) {
      guard let length = entry.length else { return .measure(path) }
      if let shortness = Self.shortness(of: length, declared) {
        guard now - entry.lastChange >= rules.patience else { return nil }
        doubt = doubt ?? shortness
      }
    }
    entries[path] = nil
    let rest = (now - entry.lastChange).components.seconds
    return .settled(
      SettledRecording(
        path: path, stamp: entry.stamp, sidecar: sidecar, nameCount: nameCount,
        transcripts: transcripts(of: path), marker: marker(of: path),
        doubt: doubt.map { "\($0), and it has not changed for \(rest) s" }))
  }

  private mutating func giveUp(
    _ path: InboxPath, _ entry: SettlingEntry, _ verdict: ContainerVerdict, _ nameCount: Int,
    at now: Duration
  ) -> Step {
    let recording = SettledRecording(
      path: path, stamp: entry.stamp, sidecar: sidecar(of: path), nameCount: nameCount,
      transcripts: transcripts(of: path), marker: marker(of: path))
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
}
