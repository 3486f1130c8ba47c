import PipelineModel
import Proof
import Stages
import Store
import Threading
import Watching

/// Asks for time stamps in the background of a watch: what it takes never delays a recording.
final class WatchStamps: Sendable {
  /// Between two looks whether something is due, in seconds.
  private static let lookPeriod = 2.0

  private let stop = StopRequest()
  private let bell = Mailbox<Void>()
  private let thread: BackgroundThread

  /// Begins.
  init(_ store: DiskStore, log: WatchLog) {
    let work = Work(store: store, log: log, stop: stop, bell: bell)
    thread = BackgroundThread(name: "stamps") { work.run() }
  }

  /// Ends what is under way, within about a second: it is asked anew later.
  func end() {
    stop.request(signal: 15)
    bell.send(())
    thread.join()
  }

  /// What the thread needs.
  private struct Work: Sendable {
    let store: DiskStore
    let log: WatchLog
    let stop: StopRequest
    let bell: Mailbox<Void>
    let clock = SystemClock()

    func run() {
      var lastTrouble: String?
      while !stop.isRequested {
        do throws(StoreError) {
          if let next = try store.nextStampAttempt(), next <= clock.now {
            _ = try StampRound(store, clock: clock, stop: stop).run(report: tell)
          }
          lastTrouble = nil
        } catch {
          let words = "cannot \(error.action) \(error.path): \(error.reason)"
          if words != lastTrouble { tell(.trouble, words) }
          lastTrouble = words
        }
        _ = bell.receive(atMost: .seconds(WatchStamps.lookPeriod))
      }
    }

    private func tell(_ news: StampNews) {
      switch news.outcome {
      case .success(let found):
        tell(.stamped, "\(found.timeText), \(found.authority)", of: news.stamp.path)
      case .failure(let trouble):
        tell(.trouble, "no time stamp yet: \(trouble.message)", of: news.stamp.path)
      }
    }

    private func tell(_ event: WatchNews.Event, _ text: String, of receipt: String? = nil) {
      log.record(
        WatchNews(
          event, at: clock.now, file: receipt.map(Format.visible), text: Format.visible(text)))
    }
  }
}
