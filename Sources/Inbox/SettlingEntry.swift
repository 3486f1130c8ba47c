internal import Sidecars

/// What is known of one file that has not settled.
struct SettlingEntry {
  let role: EntryRole
  let firstSeen: Duration
  private(set) var stamp: FileStamp
  private(set) var lastChange: Duration
  private(set) var nextLook: Duration
  /// Looks that found nothing changed since the last change.
  private(set) var equalLooks = 0
  private(set) var hasGrown = false
  private(set) var hidesWriters = false
  private(set) var writing = Writing.unseen
  /// What opening the present version has shown.
  private(set) var examination: Examination?
  private(set) var examinedAt: Duration?
  /// How long a recording's sound is, or is said to be by a sidecar.
  private(set) var length: Length?
  /// What a JSON file tells of transcripts.
  private(set) var words: Words?
  /// What was reported of it.
  var reported: Set<Unsettled> = []
  /// What it was last said to wait for.
  var toldWaiting: String?
  /// Whether its rest was reported: for files that stay after that, such as early sidecars.
  var isAnnounced = false

  /// What the kernel's events have told of writers.
  enum Writing {
    /// Nothing.
    case unseen
    /// Somebody writes to it.
    case open
    /// Its writer has closed it.
    case closed
    /// It was closed, and written to again: whoever does that may do it once more.
    case reopened
    /// The same, and closed again.
    case closedAgain
  }

  /// A length of sound that was looked for.
  enum Length: Hashable {
    /// In milliseconds.
    case known(Int)
    case unknown
  }

  /// What the text of a JSON file tells of transcripts.
  enum Words: Hashable {
    /// It is one.
    case itself
    /// A sidecar names the file that is.
    case file(FileName)
  }

  init(_ stamp: FileStamp, role: EntryRole, at now: Duration) {
    self.stamp = stamp
    self.role = role
    firstSeen = now
    lastChange = now
    nextLook = now
  }

  /// Notes what a look found.
  mutating func note(_ seen: FileStamp, rules: SettlingRules, at now: Duration) {
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

  /// Notes what opening it has shown.
  ///
  /// Whoever may not ask for leases goes by the events: what was written to and not closed has a
  /// writer.
  mutating func note(_ shown: Examination, rules: SettlingRules, at now: Duration) {
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

  /// Notes how long its sound is, or is said to be.
  mutating func note(_ length: Length) { self.length = length }

  /// Notes what its text tells of transcripts.
  mutating func note(_ words: Words?) { self.words = words }

  /// Notes an event that tells of writers.
  mutating func noteWriter(isAtWork: Bool) {
    switch (writing, isAtWork) {
    case (.unseen, true): writing = .open
    case (.closed, true), (.closedAgain, true): writing = .reopened
    case (.unseen, false), (.open, false): writing = .closed
    case (.reopened, false): writing = .closedAgain
    case (.open, true), (.reopened, true), (.closed, false), (.closedAgain, false): break
    }
  }

  /// Forgets what events have told of writers, after some were lost.
  mutating func forgetWriters() { writing = .unseen }

  /// How long it must rest.
  func restPeriod(_ rules: SettlingRules) -> Duration {
    let mayGoOn = writing == .closedAgain || writing != .closed && (hasGrown || hidesWriters)
    return mayGoOn ? max(rules.restPeriod, rules.cautiousRestPeriod) : rules.restPeriod
  }

  /// Whether it has rested. An old modification time is no rest: only equal looks are.
  func isAtRest(_ rules: SettlingRules, at now: Duration) -> Bool {
    equalLooks >= 2 && now - lastChange >= restPeriod(rules)
  }

  /// Whether it is worth opening: at once after its rest, then ever more rarely.
  func isToBeExamined(_ rules: SettlingRules, at now: Duration) -> Bool {
    switch examination {
    case nil: true
    case .beingWritten, .examined(.undecided, _, _):
      examinedAt.map { now - $0 >= pause(at: now) } ?? true
    case .examined(.incomplete, _, _), .examined(.unended, _, _), .examined(.empty, _, _):
      role != .sidecar && isToBeGivenUp(rules, at: now)
        && examinedAt.map { now - $0 >= Self.lastLookAge } ?? true
    case .examined: false
    }
  }

  /// How old the examination of a file may be that is given up: somebody may have opened it again.
  private static let lastLookAge = Duration.seconds(1)

  /// How long a file that is not whole, or may not be, may rest until it is judged as it is; nil for
  /// others.
  func limit(_ rules: SettlingRules) -> Duration? {
    switch examination {
    case .examined(.incomplete, _, _) where role == .sidecar: rules.sidecarLimit
    case .examined(.empty, canSeeWriters: true, _):
      min(rules.patience, max(rules.restPeriod, rules.cautiousRestPeriod))
    case .examined(.empty, _, _), .examined(.incomplete, _, _), .examined(.unended, _, _):
      rules.patience
    case .examined, .beingWritten, nil: nil
    }
  }

  private func isToBeGivenUp(_ rules: SettlingRules, at now: Duration) -> Bool {
    limit(rules).map { now - lastChange >= $0 } ?? false
  }

  /// Events tell of most changes; looks are for the others, and the longer a file rests, the rarer
  /// they are.
  private mutating func scheduleLook(rules: SettlingRules, at now: Duration) {
    var deadlines = [
      lastChange + restPeriod(rules), lastChange + rules.patience, firstSeen + rules.patience,
      firstSeen + rules.growthLimit,
    ]
    if let limit = limit(rules) { deadlines.append(lastChange + limit) }
    if let limit = rules.sidecar.limit { deadlines.append(firstSeen + limit) }
    nextLook = deadlines.filter { $0 > now }.reduce(now + pause(at: now), min)
  }

  /// No event tells that somebody has closed a file without having changed it.
  private func pause(at now: Duration) -> Duration {
    let longest: Duration = examination == .beingWritten ? .seconds(1) : .seconds(30)
    return min(max((now - lastChange) / 4, .milliseconds(250)), longest)
  }
}
