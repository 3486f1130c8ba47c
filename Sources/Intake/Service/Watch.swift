internal import PipelineEngine
import PipelineModel
package import Platform
import Store

/// Watches inboxes for months: takes in recordings, has them processed, and reports on them.
///
/// The thread that calls `run` decides. Each inbox has two more: its watcher, and its worker, which
/// takes files in and releases them. Pipelines run on a pool.
package final class Watch: Sendable {
  /// Reads the settings again.
  package typealias Reload = () -> WatchSettings?

  enum Message: Sendable {
    case end
    /// Load the settings again.
    case reload
    /// An inbox is repaired after the last process, and its pending commands are applied.
    case opened(inbox: String)
    /// A recording may have changed.
    case stirred
    /// Recordings were forgotten: their files, if still in an inbox, are new.
    case forgotten
    /// A recording was cancelled.
    case cancelled(RecordingKey)
    /// A job ended; `isRecorded` says whether the store has its outcome.
    case ended(RecordingKey, inbox: String, isRecorded: Bool)
  }

  private let engine: WatchEngine
  private let notifier: ServiceNotifier
  private let mail = Mailbox<Message>()
  private let stop = StopRequest()

  package init(_ engine: WatchEngine, notifier: ServiceNotifier) {
    self.engine = engine
    self.notifier = notifier
  }

  package func end() {
    stop.request(signal: 15)
    mail.send(.end)
  }

  /// Requests that the settings are loaded again.
  package func reload() { mail.send(.reload) }

  /// Watches until the end is requested. Blocks.
  /// - Parameter reload: reads the settings again; nil if they are invalid, which it has reported.
  /// - Throws: if an inbox is watched already, or cannot be watched.
  /// - Returns: whether all work reached a safe point in time.
  package func run(
    _ settings: WatchSettings, reload: Reload
  ) throws(SpoolError) -> Bool {
    var round = WatchRound(engine, mail: mail)
    var drain = settings.drain
    try round.adopt(settings)
    notifier.tell(.ready, .status(round.summary))
    var told = round.summary
    while !stop.isRequested {
      for message in mail.receive(atMost: wait(round)) {
        switch message {
        case .end: break
        case .reload:
          notifier.tell(.reloading)
          if let settings = reload() {
            drain = settings.drain
            round.readopt(settings)
          }
          notifier.tell(.ready)
        case .opened(let inbox): round.begin(inbox: inbox)
        case .stirred: round.isStirred = true
        case .forgotten: round.recheck()
        case .cancelled(let key): round.cancel(key)
        case .ended(let key, let inbox, let isRecorded):
          round.end(key, inbox: inbox, isRecorded: isRecorded)
        }
      }
      round.turn()
      if round.summary != told {
        told = round.summary
        notifier.tell(.alive, .status(told))
      } else {
        notifier.tell(.alive)
      }
    }
    notifier.tell(.stopping, .status("stopping: \(round.underWayCount) recordings under way"))
    return round.drain(patience: drain, mail: mail)
  }

  /// The longest time without an event until the next check.
  private func wait(_ round: WatchRound) -> Duration {
    var wait = round.wait
    if let period = notifier.watchdogPeriod { wait = min(wait, period / 3) }
    return max(wait, .milliseconds(10))
  }
}
