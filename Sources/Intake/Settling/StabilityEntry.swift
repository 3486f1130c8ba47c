import Platform

/// The state of one file that is not stable yet.
struct StabilityEntry {
  let role: EntryRole
  let firstSeen: Duration
  private(set) var stamp: FileStamp
  private(set) var lastChange: Duration
  private(set) var nextLook: Duration
  /// Checks without a change since the last change.
  private(set) var equalLooks = 0
  private(set) var hasGrown = false
  private(set) var hidesWriters = false
  private(set) var writing = Writing.unseen
  /// The result of opening the present version.
  private(set) var examination: Examination?
  private(set) var examinedAt: Duration?
  /// The sound's length, or that declared by a sidecar.
  private(set) var length: Length?
  /// What a JSON file says about transcripts.
  private(set) var words: Words?
  var reported: Set<Unsettled> = []
  /// The last reported reason to wait.
  var toldWaiting: String?
  /// Whether it was reported as stable; some files, such as early sidecars, stay after that.
  var isAnnounced = false

  /// What events have shown of writers.
  enum Writing {
    case unseen
    case open
    case closed
    /// Closed, and written to again: its writer may do so once more.
    case reopened
    /// The same, and closed again.
    case closedAgain
  }

  /// The result of looking for a sound's length.
  enum Length: Hashable {
    case known(Int)
    case unknown
  }

  /// What a JSON file says about transcripts.
  enum Words: Hashable {
    /// It is a transcript.
    case itself
    /// A sidecar that names the transcript.
    case file(FileName)
  }

  init(_ stamp: FileStamp, role: EntryRole, at now: Duration) {
    self.stamp = stamp
    self.role = role
    firstSeen = now
    lastChange = now
    nextLook = now
  }

  /// Records a check.
  mutating func record(_ seen: FileStamp, rules: StabilityRules, at now: Duration) {
    if seen == stamp {
      equalLooks += 1
    } else {
      if seen.inode != stamp.inode { writing = .unseen }
      hasGrown = hasGrown || seen.inode == stamp.inode && seen.byteCount != stamp.byteCount
      stamp = seen
      lastChange = now
      equalLooks = 0
      examination = nil
      length = nil
      words = nil
      isAnnounced = false
      reported = reported.filter { $0 == .stillWritten }
    }
    scheduleLook(rules: rules, at: now)
  }

  /// Records the result of opening it.
  ///
  /// Without leases, events decide: a file that was written to and not closed has a writer.
  mutating func record(_ shown: Examination, rules: StabilityRules, at now: Duration) {
    examination = shown
    examinedAt = now
    if case .examined(_, let canSeeWriters, _) = shown {
      if !canSeeWriters {
        hidesWriters = true
        if writing == .open || writing == .reopened { examination = .beingWritten }
      }
    }
    scheduleLook(rules: rules, at: now)
  }

  mutating func record(_ length: Length) { self.length = length }

  mutating func record(_ words: Words?) { self.words = words }

  /// Records an event about writers.
  mutating func recordWriter(isAtWork: Bool) {
    switch (writing, isAtWork) {
    case (.unseen, true): writing = .open
    case (.closed, true), (.closedAgain, true): writing = .reopened
    case (.unseen, false), (.open, false): writing = .closed
    case (.reopened, false): writing = .closedAgain
    case (.open, true), (.reopened, true), (.closed, false), (.closedAgain, false): break
    }
  }

  /// Forgets the writers, after some events were lost.
  mutating func forgetWriters() { writing = .unseen }

  /// How long it must stay unchanged.
  func restPeriod(_ rules: StabilityRules) -> Duration {
    let mayGoOn = writing == .closedAgain || writing != .closed && (hasGrown || hidesWriters)
    return mayGoOn ? max(rules.restPeriod, rules.cautiousRestPeriod) : rules.restPeriod
  }

  /// Whether it has stayed unchanged long enough. Only equal checks count, not an old modification
  /// time.
  func isAtRest(_ rules: StabilityRules, at now: Duration) -> Bool {
    equalLooks >= 2 && now - lastChange >= restPeriod(rules)
  }

  /// Whether to open it: first when it is stable, then at growing intervals.
  func isToBeExamined(_ rules: StabilityRules, at now: Duration) -> Bool {
    switch examination {
    case nil: true
    case .beingWritten, .examined(.undecided, _, _):
      examinedAt.map { now - $0 >= pause(at: now) } ?? true
    case .examined(.incomplete, _, _), .examined(.unended, _, _), .examined(.openEnded, _, _),
      .examined(.empty, _, _):
      role != .sidecar && isToBeGivenUp(rules, at: now)
        && examinedAt.map { now - $0 >= Self.lastLookAge } ?? true
    case .examined: false
    }
  }

  /// The largest age of the examination of a file that is given up: it may have been opened again.
  private static let lastLookAge = Duration.seconds(1)

  /// How long an unchanging file that is or may be incomplete waits until it is judged as it is;
  /// nil for others.
  func limit(_ rules: StabilityRules) -> Duration? {
    switch examination {
    case .examined(.incomplete, _, _) where role == .sidecar: rules.sidecarLimit
    case .examined(.empty, canSeeWriters: true, _):
      min(rules.patience, max(rules.restPeriod, rules.cautiousRestPeriod))
    case .examined(.empty, _, _), .examined(.incomplete, _, _), .examined(.unended, _, _):
      rules.patience
    case .examined(.openEnded, _, _): rules.doneMarker == nil ? rules.openEndPeriod : nil
    case .examined, .beingWritten, nil: nil
    }
  }

  private func isToBeGivenUp(_ rules: StabilityRules, at now: Duration) -> Bool {
    limit(rules).map { now - lastChange >= $0 } ?? false
  }

  /// Events report most changes; checks find the others, at growing intervals.
  private mutating func scheduleLook(rules: StabilityRules, at now: Duration) {
    var deadlines = [
      lastChange + restPeriod(rules), lastChange + rules.patience, firstSeen + rules.patience,
      firstSeen + rules.growthLimit,
    ]
    if let limit = limit(rules) { deadlines.append(lastChange + limit) }
    if let limit = rules.sidecar.limit { deadlines.append(firstSeen + limit) }
    nextLook = deadlines.filter { $0 > now }.reduce(now + pause(at: now), min)
  }

  /// No event reports a close without a change.
  private func pause(at now: Duration) -> Duration {
    let longest: Duration = examination == .beingWritten ? .seconds(1) : .seconds(30)
    return min(max((now - lastChange) / 4, .milliseconds(250)), longest)
  }
}

/// When a file counts as complete, and what must lie beside it.
package struct StabilityRules: Hashable, Sendable {
  /// What an inbox expects of sidecars.
  package enum SidecarPolicy: Hashable, Sendable {
    /// A recording is taken as soon as it is complete, with a sidecar if there is one by then.
    case taken
    /// A complete recording waits this long for its sidecar, counted from its first sight, and is
    /// then taken without.
    case awaited(atMost: Duration)
    /// A recording is never taken without its sidecar, and reported after this time.
    case required(reportedAfter: Duration)
    /// JSON files are no sidecars and are ignored.
    case ignored

    /// How long a recording waits, or waits unreported; nil if it does not wait.
    var limit: Duration? {
      switch self {
      case .awaited(let limit), .required(let limit): limit
      case .taken, .ignored: nil
      }
    }
  }

  /// How long length, times and inode must stay the same. At least two checks fall within it, so
  /// that a file with an old modification time waits like any other.
  package var restPeriod = Duration.seconds(2)
  /// The same for files that were seen growing, and for those whose writers are invisible and whose
  /// close was not seen: a writer that stalls, or reopens the file for every piece, must not look
  /// finished.
  package var cautiousRestPeriod = Duration.seconds(5)
  /// After this time, a file that is still written to is reported. It may still become stable.
  package var growthLimit = Duration.seconds(6 * 3600)
  /// After this time, an unchanging incomplete file is given up, one without its marker is
  /// reported, and one without a declared end is taken as it is. An empty file without a writer is
  /// given up after ``cautiousRestPeriod``.
  package var patience = Duration.seconds(600)
  /// The suffix of a recording's marker, such as `.done`; a recording is not taken before its
  /// marker is there. Nil if the inbox has no markers.
  package var doneMarker: String?
  /// How long an unreadable sidecar waits until it is taken as it is, if the policy has no limit.
  package var sidecarPatience = Duration.seconds(30)
  /// After this time without a change, a file that is ignored for a temporary or hidden name is
  /// reported.
  package var overlookedPeriod = Duration.seconds(3600)
  package var sidecar = SidecarPolicy.taken

  /// Whether transcripts beside recordings belong to them; else they are ignored.
  package var takesTranscripts = false

  /// How long a recording of a form that never tells where it ends must stay unchanged: its writer may
  /// have closed the file in the middle, to go on later.
  var openEndPeriod: Duration { min(patience, max(restPeriod * 30, cautiousRestPeriod)) }

  /// How long a recording waits for an unreadable sidecar to be rewritten.
  var sidecarLimit: Duration { sidecar.limit ?? sidecarPatience }

  package init() {}
}
