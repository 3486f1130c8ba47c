import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Synchronization

/// The machine's clocks and random numbers.
struct SystemClock: RunClock {
  var now: Double { Double(Clock.now()) / 1e9 }

  private let workTime = WorkTime(at: SystemClock.monotonic)

  /// Seconds since the clock was made, without the time in which the process was stopped.
  var elapsed: Double { workTime.seconds(at: SystemClock.monotonic) }

  /// Records that the process runs. After the first call, it must be called several times a second.
  func tick() { workTime.record(at: SystemClock.monotonic) }

  /// Monotonic time in seconds.
  private static var monotonic: Double { Double(Clock.monotonic()) / 1e9 }

  func jitter() -> Double { Double.random(in: 0..<1) }

  func sleep(_ seconds: Double, unless stop: StopRequest) {
    let end = elapsed + seconds
    while elapsed < end, !stop.isRequested { usleep(50_000) }
  }

  /// A name that sorts by time: `20261121-142205-3f9a`.
  func makeRunID() -> RunID {
    let suffix = String(UInt16.random(in: 0x1000...0xFFFF), radix: 16)
    return RunID("\(DateTime.stamp(of: now))-\(suffix)")
  }
}

/// A clock that pauses while the process is stopped.
///
/// A caller records several times a second that the process runs. A longer gap means that the
/// process was stopped (SIGSTOP, a frozen container, a sleeping machine) and counts as
/// `longestGap`.
final class WorkTime: Sendable {
  /// Maximum seconds between two records of a running process.
  static let longestGap = 1.0

  private struct State {
    var counted = 0.0
    var notedAt: Double?
    var startedAt: Double
  }
  private let state: Mutex<State>

  /// Starts at 0; `now` is the time of a monotonic clock.
  init(at now: Double) { state = Mutex(State(startedAt: now)) }

  /// Records that the process runs.
  func record(at now: Double) {
    state.withLock { state in
      state.counted = Self.seconds(state, now)
      state.notedAt = now
    }
  }

  /// Seconds of work since the start. Before the first record, all time counts.
  func seconds(at now: Double) -> Double { state.withLock { Self.seconds($0, now) } }

  private static func seconds(_ state: State, _ now: Double) -> Double {
    guard let notedAt = state.notedAt else { return now - state.startedAt }
    return state.counted + min(max(now - notedAt, 0), longestGap)
  }
}

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop. The program exits at once on a second
/// SIGINT, or if the clean point takes too long; durable data stays valid in both cases.
///
/// The signals are blocked in all threads and received by a dedicated one, so that no code runs in
/// a signal handler. That thread also ticks the work clock.
enum SignalWatch {
  /// Less than the two seconds after which users expect the prompt.
  static let usualPatience = 1.7
  /// Nanoseconds between clock ticks.
  private static let tick = 200_000_000

  /// Starts the thread. Called once, before other threads start.
  /// - Parameters:
  ///   - patience: maximum seconds until the clean point.
  ///   - farewell: called when the program exits because the clean point takes too long.
  ///   - leaving: called whenever the program exits without a clean point.
  static func begin(
    _ clock: SystemClock, patience: Double = usualPatience,
    leaving: @escaping @Sendable () -> Void = {}, farewell: @escaping @Sendable () -> Void
  ) -> StopRequest {
    let stop = StopRequest()
    let watched = block([SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP]))
    clock.tick()
    BackgroundThread(name: "signals") {
      var set = watched
      var interval = timespec(tv_sec: 0, tv_nsec: tick)
      var deadline: Double?
      while true {
        let number = unsafe sigtimedwait(&set, nil, &interval)
        clock.tick()
        if number == SIGINT, stop.isRequested {
          leaving()
          _exit(128 + SIGINT)
        }
        if number > 0 {
          stop.request(signal: number)
          if deadline == nil { deadline = clock.elapsed + patience }
        }
        if let end = deadline, clock.elapsed >= end, let first = stop.signalNumber {
          farewell()
          leaving()
          _exit(128 + first)
        }
      }
    }.letGo()
    return stop
  }

  /// For commands that check the request frequently themselves.
  static func begin() -> StopRequest { begin(SystemClock(), patience: .infinity) {} }

  /// Starts the thread for a service: SIGTERM and SIGINT stop it at a clean point, SIGHUP reloads
  /// its settings. A second SIGINT exits at once; durable data stays valid.
  static func beginService(
    end: @escaping @Sendable () -> Void, reload: @escaping @Sendable () -> Void
  ) {
    let watched = block([SIGINT, SIGTERM, SIGHUP])
    BackgroundThread(name: "signals") {
      var set = watched
      var hasAsked = false
      while true {
        switch unsafe sigwaitinfo(&set, nil) {
        case SIGINT where hasAsked: _exit(128 + SIGINT)
        case SIGINT, SIGTERM:
          hasAsked = true
          end()
        case SIGHUP: reload()
        default: break
        }
      }
    }.letGo()
  }

  /// Blocks signals in this thread and those that it starts.
  private static func block(_ numbers: [Int32]) -> sigset_t {
    var signals = sigset_t(of: numbers)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    return signals
  }

  /// Whether a signal was ignored at start, as `nohup` does: it stays ignored.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    // SIG_IGN is the address 1; Swift does not import the C macro.
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}

extension sigset_t {
  init(of numbers: [Int32]) {
    self.init()
    unsafe sigemptyset(&self)
    for number in numbers { unsafe sigaddset(&self, number) }
  }
}
