import Synchronization

/// A clock that stands still while the process is stopped.
///
/// Somebody notes several times a second that the process runs. Where such notes are missing for
/// long, the process was stopped in between (SIGSTOP, a frozen container, a machine that slept), and
/// that stretch counts as the longest that a running process lets pass.
final class WorkTime: Sendable {
  /// Seconds between two notes, at most, of a process that runs.
  static let longestGap = 1.0

  private struct State {
    var counted = 0.0
    var notedAt: Double?
    var startedAt: Double
  }
  private let state: Mutex<State>

  /// Starts at 0, at a moment of a clock that goes on whatever happens.
  init(at now: Double) { state = Mutex(State(startedAt: now)) }

  /// Notes that the process runs.
  func note(at now: Double) {
    state.withLock { state in
      state.counted = Self.seconds(state, now)
      state.notedAt = now
    }
  }

  /// Seconds of work since the start. Until the first note, every second counts.
  func seconds(at now: Double) -> Double { state.withLock { Self.seconds($0, now) } }

  private static func seconds(_ state: State, _ now: Double) -> Double {
    guard let notedAt = state.notedAt else { return now - state.startedAt }
    return state.counted + min(max(now - notedAt, 0), longestGap)
  }
}
