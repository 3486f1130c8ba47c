internal import Synchronization

/// What a store has to say of itself, in lines: told to whoever listens, or kept until somebody does.
final class StoreNews: Sendable {
  private struct State {
    var listener: (@Sendable (String) -> Void)?
    var waiting: [String] = []
    var told: Set<String> = []
  }

  private let state = Mutex(State())

  /// Tells all that waits, and from now on everything at once.
  func listen(_ listener: @escaping @Sendable (String) -> Void) {
    let waiting = state.withLock { state in
      state.listener = listener
      defer { state.waiting = [] }
      return state.waiting
    }
    waiting.forEach(listener)
  }

  func tell(_ line: String) {
    let listener = state.withLock { state in
      if state.listener == nil { state.waiting.append(line) }
      return state.listener
    }
    listener?(line)
  }

  /// Tells what has not been told yet in the life of this store.
  func tellOnce(_ line: String) {
    if state.withLock({ $0.told.insert(line).inserted }) { tell(line) }
  }
}
