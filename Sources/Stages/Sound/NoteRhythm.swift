/// When a pass notes its progress the next time: from the beginning of one note to that of the next it is
/// always the same time, as long as the disk keeps up. What a flush takes does not come on top.
///
/// A kill costs at most the time since the last whole note began to look at where everybody is: the
/// interval and the next note together. Where notes take longer than the interval, they follow each other
/// with a short rest.
struct NoteRhythm: Sendable {
  /// From the beginning of one note to that of the next.
  let interval: Duration

  /// The least part of the interval that is left to those who work.
  private static let leastRest = 10

  /// How long to wait after a note that took so long.
  func pause(after duration: Duration) -> Duration {
    max(interval - duration, interval / Self.leastRest)
  }
}
