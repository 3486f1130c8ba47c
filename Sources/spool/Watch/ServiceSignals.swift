import Glibc
import Threading
import Watching

/// The signals of a program that runs for months: SIGTERM and SIGINT end it at a clean point, SIGHUP
/// makes it read its settings anew. A second SIGINT ends it at once; what is durable stays durable.
///
/// They are blocked everywhere and taken by one thread that waits for nothing else, so that no code
/// ever runs inside a signal handler.
enum ServiceSignals {
  /// Begins to take them. Called once, before other threads begin.
  static func begin(_ deliver: @escaping @Sendable (ServiceRequest) -> Void) {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let taken = signals
    BackgroundThread(name: "signals") {
      var set = taken
      var hasAsked = false
      while true {
        let number = unsafe sigwaitinfo(&set, nil)
        if number == SIGINT, hasAsked { _exit(128 + SIGINT) }
        switch number {
        case SIGINT, SIGTERM:
          hasAsked = true
          deliver(.end)
        case SIGHUP: deliver(.reload)
        default: break
        }
      }
    }.letGo()
  }
}
