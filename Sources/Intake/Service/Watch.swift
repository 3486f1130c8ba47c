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

  private let engine: WatchEngine
  private let notifier: ServiceNotifier
  private let mail = Mailbox<WatchRound.Action>()
  private let stop = StopRequest()

  package init(_ engine: WatchEngine, notifier: ServiceNotifier) {
    self.engine = engine
    self.notifier = notifier
  }

  package func end() {
    stop.request(signal: 15)
    mail.send { $0.isStirred = true }
  }

  /// Requests that the settings are loaded again.
  package func reload() { mail.send { $0.isToReload = true } }

  /// Watches until the end is requested. Blocks.
  /// - Parameter reload: reads the settings again; nil if they are invalid, which it has reported.
  /// - Throws: if an inbox is watched already, or cannot be watched; and, after all work has stopped,
  ///   if a newer Spool has upgraded the store.
  /// - Returns: whether all work reached a safe point in time.
  package func run(
    _ settings: WatchSettings, reload: Reload
  ) throws(SpoolError) -> Bool {
    var round = WatchRound(engine, mail: mail)
    var drain = settings.drain
    try round.adopt(settings)
    notifier.tell(.ready, .status(round.summary))
    var told = round.summary
    while !stop.isRequested, round.obstacle == nil {
      for action in mail.receive(atMost: wait(round)) { action(&round) }
      if round.isToReload {
        round.isToReload = false
        notifier.tell(.reloading)
        if let settings = reload() {
          drain = settings.drain
          round.readopt(settings)
        } else {
          round.note(
            settingsProblem: "its settings were changed and are wrong: the old ones stay until "
              + "they are mended and loaded again; the log says what is wrong")
        }
        notifier.tell(.ready)
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
    let isClean = round.drain(patience: drain)
    if let obstacle = round.obstacle { throw obstacle }
    return isClean
  }

  /// The longest time without an event until the next check.
  private func wait(_ round: WatchRound) -> Duration {
    var wait = round.wait
    if let period = notifier.watchdogPeriod { wait = min(wait, period / 3) }
    return max(wait, .milliseconds(10))
  }
}
