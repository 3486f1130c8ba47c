import Glibc
import PipelineModel
import Threading

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop. A second SIGINT ends the program at
/// once, and so does a clean point that is too long in coming: what is durable stays durable
/// however the program ends.
///
/// The signals are blocked everywhere and taken by one thread that waits for nothing else, so that
/// no code ever runs inside a signal handler. The same thread keeps the clock of the work going.
enum SignalWatch {
  /// Less than the two seconds after which a user expects the prompt.
  static let usualPatience = 1.7
  /// Nanoseconds between two ticks of the clock.
  private static let tick = 200_000_000

  /// Begins to watch. Called once, before other threads begin.
  /// - Parameters:
  ///   - patience: seconds that a clean point may take.
  ///   - farewell: said to the user when the program ends without waiting any longer.
  static func begin(
    _ clock: SystemClock, patience: Double = usualPatience,
    farewell: @escaping @Sendable () -> Void
  ) -> StopRequest {
    let stop = StopRequest()
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] where number != SIGHUP || !isIgnored(number) {
      unsafe sigaddset(&signals, number)
    }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let watched = signals
    clock.tick()
    BackgroundThread(name: "signals") {
      var set = watched
      var interval = timespec(tv_sec: 0, tv_nsec: tick)
      var deadline: Double?
      while true {
        let number = unsafe sigtimedwait(&set, nil, &interval)
        clock.tick()
        if number == SIGINT, stop.isRequested { _exit(128 + SIGINT) }
        if number > 0 {
          stop.request(signal: number)
          if deadline == nil { deadline = clock.elapsed + patience }
        }
        if let end = deadline, clock.elapsed >= end, let first = stop.signalNumber {
          farewell()
          _exit(128 + first)
        }
      }
    }.letGo()
    return stop
  }

  /// Begins to watch for a command that looks for the request often enough by itself.
  static func begin() -> StopRequest { begin(SystemClock(), patience: .infinity) {} }

  /// Whether the program was started with a signal ignored, as `nohup` does: it stays ignored.
  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    // SIG_IGN, a cast that is not imported, is the address 1.
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}
