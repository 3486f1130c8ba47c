/// When the whole inbox is looked through again.
///
/// Events tell of everything that this kernel does to a watched folder, so that looking is only a
/// precaution; where they do not come, it is all there is. A look costs processor time for every
/// file, so it never comes oftener than a fixed share of one core allows.
struct RescanSchedule {
  /// The pause where events come.
  var pause = Duration.seconds(60)
  /// The pause where they do not: on network mounts, or with a folder that cannot be watched.
  var pauseWithoutEvents = Duration.seconds(2)
  /// The part of one core that looking through the inbox may take.
  var share = 0.0025

  private var next = Duration.zero

  /// A schedule whose first look is due at once.
  init() {}

  /// Whether it is time.
  func isDue(at now: Duration) -> Bool { now >= next }

  /// How long until it is time; zero where it is.
  func wait(at now: Duration) -> Duration { max(.zero, next - now) }

  /// Makes a look due.
  mutating func ask() { next = .zero }

  /// Notes that a look ended, and what processor time it took.
  mutating func note(cost: Duration, hasEvents: Bool, at now: Duration) {
    next = now + max(hasEvents ? pause : pauseWithoutEvents, cost / share)
  }
}
