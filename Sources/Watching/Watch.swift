internal import Inbox
internal import PipelineEngine
public import PipelineModel
internal import Threading

/// Watches inboxes for months: takes in what arrives, has it processed, and gives account of it.
///
/// One thread decides, and it is the one that calls `run`. Each inbox has two more: its watcher, and
/// its desk, which takes files in and gives them back. Pipelines run on a pool.
public final class Watch: Sendable {
  /// What a watch is told anew.
  public typealias Reload = () -> WatchSettings?

  enum Message: Sendable {
    case request(ServiceRequest)
    /// An inbox's desk has put right what was left, and knows what devices asked for meanwhile.
    case opened(inbox: String)
    /// Something about notes may have changed.
    case stirred
    /// Notes were forgotten: their files are new, where they still lie in an inbox.
    case forgotten
    /// A note is not wanted any more.
    case cancelled(NoteKey)
    /// A note's work is over; `isRecorded` says whether the ledger knows how it ended.
    case ended(NoteKey, inbox: String, isRecorded: Bool)
  }

  private let engine: WatchEngine
  private let notifier: ServiceNotifier
  private let mail = Mailbox<Message>()
  private let stop = StopRequest()

  /// Makes a watch that tells systemd how it stands, if there is one.
  public init(_ engine: WatchEngine, notifier: ServiceNotifier) {
    self.engine = engine
    self.notifier = notifier
  }

  /// Asks for something, from any thread.
  public func request(_ request: ServiceRequest) {
    if request == .end { stop.request(signal: 15) }
    mail.send(.request(request))
  }

  /// Watches until the end is asked for. Blocks.
  /// - Parameter reload: reads the settings again; nil where they are wrong, which it has told.
  /// - Throws: where an inbox is watched already, or cannot be watched at all.
  /// - Returns: whether all work had come to such a point in time.
  public func run(
    _ settings: WatchSettings, reload: Reload
  ) throws(StageError) -> Bool {
    var round = WatchRound(engine, mail: mail)
    var drain = settings.drain
    try round.adopt(settings)
    notifier.tell(.ready, .status(round.summary))
    var told = round.summary
    while !stop.isRequested {
      for message in mail.receive(atMost: wait(round)) {
        switch message {
        case .request(.end): break
        case .request(.reload):
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

  /// How long nothing may happen until the next look at the clock.
  private func wait(_ round: WatchRound) -> Duration {
    var wait = round.wait
    if let period = notifier.watchdogPeriod { wait = min(wait, period / 3) }
    return max(wait, .milliseconds(10))
  }
}
