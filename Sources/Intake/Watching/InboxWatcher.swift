import Platform
import Synchronization

/// Watches an inbox on a thread of its own, and reports complete arrivals.
///
/// It also reports what the inbox held at the start, except files that `isKnown` says were taken in
/// before.
final class InboxWatcher: Sendable {
  private let orders: WatchOrders
  private let thread: BackgroundThread

  /// Begins to watch. The inbox need not exist yet.
  ///
  /// The watcher's thread calls all closures, one at a time. A slow closure loses nothing: the
  /// kernel queues events, and after an overflow the inbox is scanned again.
  ///
  /// - Parameters:
  ///   - path: the inbox.
  ///   - names: the names to ignore.
  ///   - rules: when a file is complete.
  ///   - schedule: when the whole inbox is scanned again.
  ///   - isKnown: whether this version of a file was taken in before.
  ///   - absence: why the folder at that path is not the inbox now, such as an unmounted disk; nil
  ///     if it is. It is not scanned then.
  ///   - examine: whether an open recording holds all that its container declares.
  ///   - measure: the length of an open recording's sound in milliseconds; nil if unknown. Called
  ///     only if a sidecar declares a length.
  ///   - report: receives the arrivals.
  init(
    path: String, names: UntouchedNames = UntouchedNames(),
    rules: StabilityRules = StabilityRules(), schedule: RescanSchedule = RescanSchedule(),
    isKnown: @escaping @Sendable (InboxPath, FileStamp) -> Bool = { _, _ in false },
    absence: @escaping @Sendable () -> String? = { nil },
    examine: @escaping @Sendable (borrowing ArrivedFile) -> ContainerVerdict,
    measure: @escaping @Sendable (borrowing ArrivedFile) -> Int? = { _ in nil },
    report: @escaping @Sendable (InboxEvent) -> Void
  ) {
    let orders = WatchOrders()
    self.orders = orders
    thread = BackgroundThread(name: "inbox") {
      let watch = FolderWatch(
        path: path, names: names, schedule: schedule,
        overlookedAge: rules.overlookedPeriod, absence: absence, wake: orders.wake)
      var monitor = ArrivalMonitor(
        watch: watch, rules: rules, isKnown: isKnown, examine: examine, measure: measure)
      while let order = orders.take() {
        if order.isRescan { monitor.rescan() }
        if order.isRecheck { monitor.recheck() }
        for path in order.newLooks { monitor.lookAgain(at: path, report: report) }
        monitor.turn(atMost: .seconds(60), while: { !orders.isStopped }, report: report)
      }
    }
  }

  deinit { orders.stop() }

  /// Ends the watch after its current step, and waits for that. Must not be called by the watch's
  /// own closures: they would deadlock.
  func stop() {
    orders.stop()
    thread.join()
  }

  /// Requests a scan of the whole inbox.
  func rescan() { orders.add { $0.isRescan = true } }

  /// Checks for every file again whether it is known, and follows unknown ones as new. O(n)
  /// queries.
  func recheck() { orders.add { $0.isRecheck = true } }

  /// Follows a file as if it had just come, though it may have been reported before.
  func lookAgain(at path: InboxPath) { orders.add { $0.newLooks.append(path) } }
}

/// Requests from other threads to a watcher's thread.
final class WatchOrders: Sendable {
  /// The requests since the last call of `take`.
  struct Order {
    var isRescan = false
    var isRecheck = false
    var newLooks: [InboxPath] = []
    fileprivate var isStopped = false
  }

  /// Signalled by every request.
  let wake = WakeUp()
  private let state = Mutex(Order())

  var isStopped: Bool { state.withLock(\.isStopped) }

  func add(_ change: (inout Order) -> Void) {
    state.withLock { change(&$0) }
    wake.ring()
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    wake.ring()
  }

  /// The requests; nil once the watch must end.
  func take() -> Order? {
    state.withLock { order in
      if order.isStopped { return nil }
      defer { order = Order() }
      return order
    }
  }
}
