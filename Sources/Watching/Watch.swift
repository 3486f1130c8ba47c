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
  public typealias Reload = () -> (inboxes: [InboxSettings], jobs: Int)?

  enum Message: Sendable {
    case request(ServiceRequest)
    /// Something about notes may have changed.
    case stirred
    /// A note is not wanted any more.
    case cancelled(NoteKey)
    /// A note's work is over.
    case ended(NoteKey, inbox: String)
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
  /// - Parameters:
  ///   - patience: seconds that work under way has to come to a point where it can be gone on with.
  ///   - reload: reads the settings again; nil where they are wrong, which it has told.
  /// - Throws: where an inbox is watched already, or cannot be watched at all.
  /// - Returns: whether all work had come to such a point in time.
  public func run(
    _ inboxes: [InboxSettings], jobs: Int, patience: Double, reload: Reload
  ) throws(StageError) -> Bool {
    var round = WatchRound(engine, mail: mail)
    try round.adopt(inboxes, jobs: jobs)
    notifier.tell(.ready, .status(round.summary))
    var told = round.summary
    while !stop.isRequested {
      for message in mail.receive(atMost: wait(round)) {
        switch message {
        case .request(.end): break
        case .request(.reload):
          notifier.tell(.reloading)
          if let (inboxes, jobs) = reload() {
            round.readopt(inboxes, jobs: jobs)
          }
          notifier.tell(.ready)
        case .stirred: round.isStirred = true
        case .cancelled(let key): round.cancel(key)
        case .ended(let key, let inbox): round.end(key, inbox: inbox)
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
    return round.drain(patience: patience, mail: mail)
  }

  /// How long nothing may happen until the next look at the clock.
  private func wait(_ round: WatchRound) -> Duration {
    var wait = round.wait
    if let period = notifier.watchdogPeriod { wait = min(wait, period / 3) }
    return max(wait, .milliseconds(10))
  }
}
