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
  /// What opening the present version has shown.
  private(set) var examination: Examination?
  private(set) var examinedAt: Duration?
  /// What was reported of it.
  var reported: Set<Unsettled> = []
  /// Whether its rest was reported: for files that stay after that, such as early sidecars.
  var isAnnounced = false

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
      hasGrown = hasGrown || seen.inode == stamp.inode && seen.byteCount != stamp.byteCount
      stamp = seen
      lastChange = now
      equalLooks = 0
      examination = nil
      isAnnounced = false
      reported = reported.filter { $0 == .stillWritten }
    }
    scheduleLook(rules: rules, at: now)
  }

  /// Notes what opening it has shown.
  mutating func note(_ shown: Examination, rules: SettlingRules, at now: Duration) {
    examination = shown
    examinedAt = now
    if case .examined(_, canSeeWriters: false, _) = shown { hidesWriters = true }
    scheduleLook(rules: rules, at: now)
  }

  /// How long it must rest.
  func restPeriod(_ rules: SettlingRules) -> Duration {
    hasGrown || hidesWriters ? max(rules.restPeriod, rules.cautiousRestPeriod) : rules.restPeriod
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
    case .examined(.incomplete, _, _), .examined(.empty, _, _):
      isToBeGivenUp(rules, at: now)
        && examinedAt.map { now - $0 >= Self.lastLookAge } ?? true
    case .examined: false
    }
  }

  /// How old the examination of a file may be that is given up: somebody may have opened it again.
  private static let lastLookAge = Duration.seconds(1)

  /// How long a file that is not whole may rest until it is given up; nil where it may become whole
  /// or is.
  func limit(_ rules: SettlingRules) -> Duration? {
    switch examination {
    case .examined(.empty, canSeeWriters: true, _):
      min(rules.patience, max(rules.restPeriod, rules.cautiousRestPeriod))
    case .examined(.empty, _, _), .examined(.incomplete, _, _): rules.patience
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
