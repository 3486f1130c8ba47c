/// A pause between two pieces of work that somebody else may cut short, for good.
public final class Pause: Sendable {
  private let isOver = Monitor(false)

  /// Nobody has cut it short yet.
  public init() {}

  /// Waits so long, by a clock that nobody sets.
  /// - Returns: false once the pause was cut short; at once from then on.
  public func wait(_ duration: Duration) -> Bool {
    isOver.wait(atMost: duration) { $0 ? true : nil } == nil
  }

  /// Ends this wait and every later one.
  public func end() { isOver.update { $0 = true } }
}
