internal import Threading

/// Watches an inbox on a thread of its own, and tells what has arrived there and is whole.
///
/// What the inbox held when the watcher began is told as well; `isKnown` says what was dealt with
/// before, which is then neither opened nor told.
public final class InboxWatcher: Sendable {
  private let orders: WatchOrders
  private let thread: BackgroundThread

  /// Begins to watch. The inbox need not be there yet.
  ///
  /// All closures are called by the watcher's thread, one at a time. While one of them takes its
  /// time nothing is lost: the kernel keeps events, and where it drops some the inbox is looked
  /// through again.
  ///
  /// - Parameters:
  ///   - path: the inbox.
  ///   - names: what is left alone.
  ///   - rules: when a file is whole.
  ///   - isKnown: whether this version of a file was dealt with before.
  ///   - absence: why the folder at that path is not the inbox now, such as a folder whose disk is not
  ///     mounted; nil where it is. Nothing is looked for in it then.
  ///   - examine: whether the container of an open recording declares no more than is there.
  ///   - measure: how long the sound of an open recording is, in milliseconds; nil where that is
  ///     not to be told. Asked only where a sidecar says how long it ought to be.
  ///   - report: takes the news.
  public convenience init(
    path: String, names: UntouchedNames = UntouchedNames(),
    rules: SettlingRules = SettlingRules(),
    isKnown: @escaping @Sendable (InboxPath, FileStamp) -> Bool = { _, _ in false },
    absence: @escaping @Sendable () -> String? = { nil },
    examine: @escaping @Sendable (borrowing ArrivedFile) -> ContainerVerdict,
    measure: @escaping @Sendable (borrowing ArrivedFile) -> Int? = { _ in nil },
    report: @escaping @Sendable (Arrival) -> Void
  ) {
    self.init(
      path: path, names: names, rules: rules, schedule: RescanSchedule(), isKnown: isKnown,
      absence: absence, examine: examine, measure: measure, report: report)
  }

  init(
    path: String, names: UntouchedNames, rules: SettlingRules, schedule: RescanSchedule,
    isKnown: @escaping @Sendable (InboxPath, FileStamp) -> Bool,
    absence: @escaping @Sendable () -> String? = { nil },
    examine: @escaping @Sendable (borrowing ArrivedFile) -> ContainerVerdict,
    measure: @escaping @Sendable (borrowing ArrivedFile) -> Int? = { _ in nil },
    report: @escaping @Sendable (Arrival) -> Void
  ) {
    let orders = WatchOrders()
    self.orders = orders
    thread = BackgroundThread(name: "inbox") {
      let watch = FolderWatch(
        path: path, names: names, schedule: schedule,
        overlookedAge: rules.overlookedPeriod, absence: absence, wake: orders.wake)
      var reception = Reception(
        watch: watch, rules: rules, isKnown: isKnown, examine: examine, measure: measure)
      while let order = orders.take() {
        if order.isRescan { reception.rescan() }
        if order.isRecheck { reception.recheck() }
        for path in order.newLooks { reception.lookAgain(at: path, report: report) }
        reception.turn(atMost: .seconds(60), while: { !orders.isStopped }, report: report)
      }
    }
  }

  deinit { orders.stop() }

  /// Ends the watch after the step it is at, and waits for that. Never called by a closure of the
  /// watch itself, which would wait for itself.
  public func stop() {
    orders.stop()
    thread.join()
  }

  /// Looks through the whole inbox soon.
  public func rescan() { orders.add { $0.isRescan = true } }

  /// Asks of every file anew whether it was dealt with, and takes those that were not as ones that
  /// have just come. O(n) questions.
  public func recheck() { orders.add { $0.isRecheck = true } }

  /// Takes a file as one that has just come, though it may have been told before.
  public func lookAgain(at path: InboxPath) { orders.add { $0.newLooks.append(path) } }
}
