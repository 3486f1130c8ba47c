/// A line of messages to one thread. Whoever sends never waits, so it is for messages whose number
/// something else bounds.
public final class Mailbox<Message: Sendable>: Sendable {
  private let messages = Monitor<[Message]>([])

  /// Makes an empty one.
  public init() {}

  /// Adds a message. O(1) amortised.
  public func send(_ message: Message) { messages.update { $0.append(message) } }

  /// Takes all messages in the order of sending, waiting for the first; none where none came in
  /// time, by a clock that nobody sets.
  public func receive(atMost limit: Duration) -> [Message] {
    messages.wait(atMost: limit) { messages in
      guard !messages.isEmpty else { return nil }
      defer { messages = [] }
      return messages
    } ?? []
  }
}
