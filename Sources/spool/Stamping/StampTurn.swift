import Glibc
import PipelineModel
import Stages
import Store

/// A round of asking for time stamps, as a command makes it: if another process is at it, its turn
/// comes after that.
struct StampTurn {
  /// How long `run`, `resume` and `batch` ask in all when everything else is done, in seconds.
  static let patienceAtEnd = 10.0

  private let store: DiskStore
  private let clock: SystemClock
  private let stop: StopRequest

  init(_ store: DiskStore, clock: SystemClock, stop: StopRequest) {
    self.store = store
    self.clock = clock
    self.stop = stop
  }

  /// Asks for what is due, for at most so many seconds.
  /// - Parameters:
  ///   - isEager: whether what is not due yet is asked for, too.
  ///   - report: told of every attempt.
  func run(
    patience: Double, isEager: Bool = false, report: (StampNews) -> Void
  ) throws(StoreError) {
    let deadline = clock.elapsed + patience
    while let next = try store.nextStampAttempt(), isEager || next <= clock.now {
      let round = StampRound(store, clock: clock, stop: stop)
      if try round.run(
        patience: deadline - clock.elapsed, isEager: isEager, report: report)
      {
        return
      }
      guard clock.elapsed < deadline, !stop.isRequested else { return }
      usleep(50_000)
    }
  }
}
