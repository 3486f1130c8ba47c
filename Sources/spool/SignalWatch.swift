import Glibc
import PipelineModel
import Threading

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop; a second SIGINT ends the program at
/// once.
///
/// The signals are blocked everywhere and taken by one thread that waits for nothing else, so that
/// no code ever runs inside a signal handler.
enum SignalWatch {
  /// Begins to watch. Called once, before other threads begin.
  static func begin() -> StopRequest {
    let stop = StopRequest()
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] { unsafe sigaddset(&signals, number) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    let watched = signals
    BackgroundThread(name: "signals") {
      var set = watched
      var number: Int32 = 0
      while unsafe sigwait(&set, &number) == 0 {
        if number == SIGINT, stop.isRequested { _exit(128 + SIGINT) }
        stop.request(signal: number)
      }
    }.letGo()
    return stop
  }
}
