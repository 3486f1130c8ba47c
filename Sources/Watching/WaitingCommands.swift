internal import Inbox

/// Commands that settled, until those that came with them have settled too: what was issued first is
/// done first, whatever the files are called. It has no clock.
struct WaitingCommands {
  /// A command's file.
  struct Command: Hashable {
    let path: InboxPath
    let stamp: FileStamp
    /// When it was issued, in seconds since 1970.
    let issuedAt: Double
  }

  /// How long the next one is waited for, in seconds.
  private static let pause = 0.25
  /// How long the first one waits at most, in seconds.
  private static let limit = 2.0

  private var commands: [Command] = []
  private var firstTime = 0.0

  /// When they are to be done, in seconds; nil where there are none.
  private(set) var due: Double?

  /// Adds one that has just settled.
  /// - Parameter time: in seconds, by the clock of ``due``.
  mutating func add(_ command: Command, at time: Double) {
    if commands.isEmpty { firstTime = time }
    commands.append(command)
    due = min(time + Self.pause, firstTime + Self.limit)
  }

  /// Takes out all, in the order in which they were issued and then of their names; none before they
  /// are due. O(n log n).
  mutating func take(at time: Double) -> [Command] {
    guard let due, due <= time else { return [] }
    defer { (commands, self.due) = ([], nil) }
    return commands.sorted {
      $0.issuedAt != $1.issuedAt
        ? $0.issuedAt < $1.issuedAt
        : $0.path.bytes.lexicographicallyPrecedes($1.path.bytes)
    }
  }
}
