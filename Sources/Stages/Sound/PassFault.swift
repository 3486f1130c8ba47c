import PipelineEngine
import Synchronization

/// The first failure of a pass, which ends all of its threads.
final class PassFault: Sendable {
  private struct State {
    var failure: PassFailure?
    var actions: [@Sendable () -> Void] = []
  }
  private let state = Mutex(State())

  /// What failed first; nil while nothing did.
  var failure: PassFailure? { state.withLock(\.failure) }

  /// Notes a failure and wakes everybody who waits. Only the first counts.
  func note(_ failure: PassFailure) {
    let actions = state.withLock { state -> [@Sendable () -> Void] in
      guard state.failure == nil else { return [] }
      state.failure = failure
      return state.actions
    }
    actions.forEach { $0() }
  }

  /// Has something done when the pass fails; at once if it failed already.
  func onFailure(_ action: @escaping @Sendable () -> Void) {
    let hasFailed = state.withLock { state -> Bool in
      state.actions.append(action)
      return state.failure != nil
    }
    if hasFailed { action() }
  }
}
