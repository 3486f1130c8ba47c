import PipelineModel
import Proof
import Stages
import Store

/// What a run or a batch does last: asks for the time stamps that are due, and says what came of it.
/// Nothing of it is the run's own success.
struct LastStamps {
  /// Of more time stamps than this, only the number is told.
  private static let shown = 3

  private let store: DiskStore
  private let storeOption: String?
  private let voice: RunLaunch.Voice
  private let console: Console

  /// - Parameter storeOption: `--store` as it was typed.
  init(_ store: DiskStore, storeOption: String?, voice: RunLaunch.Voice, console: Console) {
    self.store = store
    self.storeOption = storeOption
    self.voice = voice
    self.console = console
  }

  /// Asks, for no longer than a user may wait, or until a signal comes.
  func ask(_ clock: SystemClock, stop: StopRequest) {
    var came: [(AwaitedStamp, TimeStamp)] = []
    var troubles: [String] = []
    do throws(StoreError) {
      guard let next = try store.nextStampAttempt(), next <= clock.now else { return }
      try StampTurn(store, clock: clock, stop: stop).run(patience: StampTurn.patienceAtEnd) {
        switch $0.outcome {
        case .success(let found): came.append(($0.stamp, found))
        case .failure(let trouble):
          if !troubles.contains(trouble.message) { troubles.append(trouble.message) }
        }
      }
      tell(came)
      for trouble in troubles { console.report("note: \(Format.visible(trouble))") }
      let waiting = try store.awaitedStamps()
      guard !waiting.isEmpty else { return }
      if case .json = voice {
        for stamp in waiting { console.print(JSONText.of(StampLine(waiting: stamp))) }
      }
      let receipts = Set(waiting.map(\.path)).count
      console.report(
        "note: \(Count.of(receipts, "receipt")) \(receipts == 1 ? "waits" : "wait") for a time "
          + "stamp: \(StampCommand.line(storeOption)) asks again")
    } catch {
      console.report("warning: cannot \(error.action) \(error.path): \(error.reason)")
    }
  }

  private func tell(_ came: [(AwaitedStamp, TimeStamp)]) {
    switch voice {
    case .json: for (stamp, found) in came { console.print(JSONText.of(StampLine(stamp, found))) }
    case .quiet: break
    case .full:
      guard came.count > Self.shown else {
        for (stamp, found) in came { console.print(StampText.line(stamp, found)) }
        return
      }
      console.print("stamped   \(came.count) receipts")
    }
  }
}
