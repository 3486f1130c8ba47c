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

/// Turns file system events into arrivals: it follows each file until it is stable. It belongs to
/// one thread.
struct ArrivalMonitor: ~Copyable {
  private var watch: FolderWatch
  private var tracker: StabilityTracker
  private let isKnown: @Sendable (InboxPath, FileStamp) -> Bool
  private let examine: @Sendable (borrowing ArrivedFile) -> ContainerVerdict
  private let measure: @Sendable (borrowing ArrivedFile) -> Int?

  init(
    watch: consuming FolderWatch, rules: StabilityRules,
    isKnown: @escaping @Sendable (InboxPath, FileStamp) -> Bool,
    examine: @escaping @Sendable (borrowing ArrivedFile) -> ContainerVerdict,
    measure: @escaping @Sendable (borrowing ArrivedFile) -> Int?
  ) {
    self.watch = watch
    tracker = StabilityTracker(rules: rules)
    self.isKnown = isKnown
    self.examine = examine
    self.measure = measure
  }

  /// Waits for events, at most for `limit`, and handles them.
  mutating func turn(
    atMost limit: Duration, while mayGoOn: () -> Bool = { true }, report: (InboxEvent) -> Void
  ) {
    let now = MonotonicTime.now
    let wait = tracker.nextLook.map { max(.zero, $0 - now) } ?? limit
    for event in watch.wait(atMost: min(limit, wait)) { take(event, report) }
    for path in tracker.due(at: MonotonicTime.now) { look(at: path, report) }
    for step in tracker.steps(at: MonotonicTime.now) {
      guard mayGoOn() else { return }
      take(step, report)
    }
  }

  /// Requests a scan of the whole inbox in the next turn.
  mutating func rescan() { watch.schedule.ask() }

  /// Follows every file that is not known, as if it had just come.
  mutating func recheck() {
    for (path, stamp) in watch.known.files
    where stamp.kind == .file && !tracker.contains(path) && !isKnown(path, stamp) {
      tracker.record(stamp, at: path, now: MonotonicTime.now)
    }
  }

  /// Follows a file as if it had just come.
  mutating func lookAgain(at path: InboxPath, report: (InboxEvent) -> Void) {
    tracker.forget(path)
    if case .there(let stamp) = watch.look(at: path) { take(.found(path, stamp), report) }
  }

  private mutating func take(_ event: InboxEvent, _ report: (InboxEvent) -> Void) {
    switch event {
    case .found(let path, let stamp):
      if stamp.kind == .file {
        if !isKnown(path, stamp) { tracker.record(stamp, at: path, now: MonotonicTime.now) }
      } else {
        tracker.forget(path)
        do throws(SpoolError) {
          try InboxFolder.refuse(stamp.kind, path)
        } catch {
          report(.refused(path, error))
        }
      }
    case .gone(let path):
      tracker.forget(path)
      report(event)
    case .written(let path): tracker.recordWriter(isAtWork: true, at: path)
    case .closed(let path): tracker.recordWriter(isAtWork: false, at: path)
    case .writersLost: tracker.forgetWriters()
    default: report(event)
    }
  }

  private mutating func look(at path: InboxPath, _ report: (InboxEvent) -> Void) {
    switch watch.look(at: path) {
    case .there(let stamp) where stamp.kind == .file:
      tracker.record(stamp, at: path, now: MonotonicTime.now)
    case .there(let stamp): take(.found(path, stamp), report)
    case .gone: take(.gone(path), report)
    case .unreachable: break
    }
  }

  private mutating func take(_ step: StabilityTracker.Step, _ report: (InboxEvent) -> Void) {
    switch step {
    case .examine(let path): examineFile(at: path, report)
    case .measure(let path): measureFile(at: path, report)
    case .report(let arrival): report(arrival)
    }
  }

  private func verdict(on file: borrowing ArrivedFile) throws(SpoolError) -> ContainerVerdict {
    let isNamed = file.path.name.map { SoundSign.isCarried(by: $0) } ?? false
    if !isNamed, !SoundSign.isCarried(by: try file.head(count: 16)) { return .foreign }
    return file.stamp.byteCount == 0 ? .empty : examine(file)
  }

  private mutating func examineFile(at path: InboxPath, _ report: (InboxEvent) -> Void) {
    do throws(SpoolError) {
      guard let file = try watch.open(path) else { return }
      let hasWriters = file.hasWriters()
      var shown = Examination.beingWritten
      var length: StabilityEntry.Length?
      var words: StabilityEntry.Words?
      if hasWriters != true, !isUnderDownload(path) {
        let verdict: ContainerVerdict
        switch tracker.role(of: path) {
        case .sidecar:
          let sidecar = try Sidecar(reading: file)
          let problem = sidecar.problems.first?.description ?? "it is no sidecar"
          verdict =
            sidecar.isReadable
            ? .whole : sidecar.isCutOff ? .incomplete(problem) : .unreadable(problem)
          length = sidecar.milliseconds.map { .known($0) } ?? .unknown
          words = try self.words(of: sidecar, file)
        case .transcript:
          verdict = SoundSign.isCarried(by: try file.head(count: 16)) ? .foreign : .whole
        case .recording, .marker, .command, nil: verdict = try self.verdict(on: file)
        }
        shown = .examined(
          verdict, canSeeWriters: hasWriters == false, nameCount: file.nameCount)
      }
      // A verdict on bytes that have changed meanwhile is void: the next check starts over.
      guard try file.currentStamp() == file.stamp else { return }
      tracker.record(shown, of: file.stamp, at: path, now: MonotonicTime.now)
      if let length { tracker.record(length, of: file.stamp, at: path) }
      tracker.record(words, of: file.stamp, at: path)
      goOn(with: path, report)
    } catch {
      fail(path, error, report)
    }
  }

  /// What a JSON file says about transcripts. A transcript may be longer than a sidecar.
  private func words(
    of sidecar: Sidecar, _ file: borrowing ArrivedFile
  ) throws(SpoolError) -> StabilityEntry.Words? {
    guard tracker.rules.takesTranscripts, !sidecar.isCutOff else { return nil }
    if try file.isTranscript() { return .itself }
    guard case .text(let text)? = sidecar.written["transcript"] else { return nil }
    return FileName(text).map { .file($0) }
  }

  /// Whether a downloader's control file lies beside it.
  private mutating func isUnderDownload(_ path: InboxPath) -> Bool {
    guard let name = path.name else { return false }
    return watch.names.controlFiles(of: name).contains { control in
      if case .there = watch.look(at: path.folder.appending(control)) { true } else { false }
    }
  }

  private mutating func measureFile(at path: InboxPath, _ report: (InboxEvent) -> Void) {
    do throws(SpoolError) {
      guard let file = try watch.open(path) else { return }
      let length = measure(file)
      tracker.record(length.map { .known($0) } ?? .unknown, of: file.stamp, at: path)
      goOn(with: path, report)
    } catch {
      fail(path, error, report)
    }
  }

  /// A file that proved to be complete has waited long enough.
  private mutating func goOn(with path: InboxPath, _ report: (InboxEvent) -> Void) {
    for step in tracker.steps(for: path, at: MonotonicTime.now) where !step.isExamination {
      take(step, report)
    }
  }

  private mutating func fail(
    _ path: InboxPath, _ error: SpoolError, _ report: (InboxEvent) -> Void
  ) {
    switch error.kind {
    // The next check shows it.
    case .missing, .changed: break
    // A passing condition, such as too many open files.
    case .system, .noRoom, .broken, .usage, .invalid, nil:
      guard let stamp = tracker.stamp(of: path) else { return }
      tracker.record(
        .examined(.undecided(error.why), canSeeWriters: true, nameCount: 1), of: stamp,
        at: path, now: MonotonicTime.now)
    case .link, .wrongKind, .special, .sparse, .tooLarge, .denied:
      tracker.forget(path)
      report(.refused(path, error))
    }
  }
}

extension StabilityTracker.Step {
  fileprivate var isExamination: Bool {
    if case .examine = self { return true }
    return false
  }
}
