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
  ///   - begun: called before the first report, when the inbox is watched or found to be away.
  ///   - report: receives the arrivals.
  init(
    path: String, names: UntouchedNames = UntouchedNames(),
    rules: StabilityRules = StabilityRules(), schedule: RescanSchedule = RescanSchedule(),
    isKnown: @escaping @Sendable (InboxPath, FileStamp) -> Bool = { _, _ in false },
    absence: @escaping @Sendable () -> String? = { nil },
    examine: @escaping @Sendable (borrowing ArrivedFile) -> ContainerVerdict,
    measure: @escaping @Sendable (borrowing ArrivedFile) -> Int? = { _ in nil },
    begun: (@Sendable () -> Void)? = nil, report: @escaping @Sendable (InboxEvent) -> Void
  ) {
    let orders = WatchOrders()
    self.orders = orders
    thread = BackgroundThread(name: "inbox") {
      let watch = FolderWatch(
        path: path, names: names, schedule: schedule,
        overlookedAge: rules.overlookedPeriod, absence: absence, begun: begun, wake: orders.wake)
      var monitor = ArrivalMonitor(
        watch: watch, rules: rules, isKnown: isKnown, examine: examine, measure: measure,
        report: report)
      while let actions = orders.take() {
        for action in actions { action(&monitor) }
        monitor.turn(atMost: .seconds(60)) { !orders.isStopped }
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
  func rescan() { orders.add { $0.rescan() } }

  /// Checks for every file again whether it is known, and follows unknown ones as new. O(n)
  /// queries.
  func recheck() { orders.add { $0.recheck() } }

  /// Follows a file as if it had just come, though it may have been reported before.
  func lookAgain(at path: InboxPath) { orders.add { $0.lookAgain(at: path) } }
}

/// What other threads ask of a watcher's thread.
private final class WatchOrders: Sendable {
  typealias Action = @Sendable (inout ArrivalMonitor) -> Void

  /// Signalled by every request.
  let wake = WakeUp()
  /// The requests since the last call of `take`; nil once the watch must end.
  private let actions = Mutex<[Action]?>([])

  var isStopped: Bool { actions.withLock { $0 == nil } }

  func add(_ action: @escaping Action) {
    actions.withLock { $0?.append(action) }
    wake.ring()
  }

  func stop() {
    actions.withLock { $0 = nil }
    wake.ring()
  }

  /// Removes and returns the requests; nil once the watch must end.
  func take() -> [Action]? {
    actions.withLock { actions in
      defer { if actions != nil { actions = [] } }
      return actions
    }
  }
}

/// Follows each file that the folder watch finds until it is stable, and reports what the inbox's
/// worker acts on. It belongs to one thread.
struct ArrivalMonitor: ~Copyable {
  private var watch: FolderWatch
  private var tracker: StabilityTracker
  private let isKnown: @Sendable (InboxPath, FileStamp) -> Bool
  private let examine: @Sendable (borrowing ArrivedFile) -> ContainerVerdict
  private let measure: @Sendable (borrowing ArrivedFile) -> Int?
  private let report: (InboxEvent) -> Void

  init(
    watch: consuming FolderWatch, rules: StabilityRules,
    isKnown: @escaping @Sendable (InboxPath, FileStamp) -> Bool,
    examine: @escaping @Sendable (borrowing ArrivedFile) -> ContainerVerdict,
    measure: @escaping @Sendable (borrowing ArrivedFile) -> Int?,
    report: @escaping (InboxEvent) -> Void
  ) {
    self.watch = watch
    tracker = StabilityTracker(rules: rules)
    self.isKnown = isKnown
    self.examine = examine
    self.measure = measure
    self.report = report
  }

  /// Waits for events, at most for `limit`, and handles them.
  mutating func turn(atMost limit: Duration, while mayGoOn: () -> Bool = { true }) {
    let now = MonotonicTime.now
    let wait = tracker.nextLook.map { max(.zero, $0 - now) } ?? limit
    for event in watch.wait(atMost: min(limit, wait)) { take(event) }
    for path in tracker.due(at: MonotonicTime.now) { look(at: path) }
    for event in tracker.events(at: MonotonicTime.now) {
      guard mayGoOn() else { return }
      take(event)
    }
  }

  /// Requests a scan of the whole inbox in the next turn.
  mutating func rescan() { watch.schedule.ask() }

  /// Follows every file that is not known, as if it had just come.
  mutating func recheck() {
    for (path, stamp) in watch.known.files
    where stamp.isRegularFile && !tracker.contains(path) && !isKnown(path, stamp) {
      follow(path, stamp)
    }
  }

  /// Follows a file, and the sidecar beside it that an earlier watch took in: it counts for the
  /// next file of its name too.
  private mutating func follow(_ path: InboxPath, _ stamp: FileStamp) {
    let now = MonotonicTime.now
    tracker.record(stamp, at: path, now: now)
    guard tracker.role(of: path) == .recording, tracker.rules.sidecar != .ignored,
      let name = path.name
    else { return }
    for sidecar in SidecarName.candidates(for: name).map(path.folder.appending)
    where !tracker.contains(sidecar) {
      guard let stamp = watch.known.stamp(of: sidecar), stamp.isRegularFile else { continue }
      tracker.record(stamp, at: sidecar, now: now)
    }
  }

  /// Follows a file as if it had just come.
  mutating func lookAgain(at path: InboxPath) {
    tracker.forget(path)
    if let event = watch.look(at: path), case .found = event { take(event) }
  }

  private mutating func take(_ event: InboxEvent) {
    switch event {
    case .found(let path, let stamp):
      if stamp.isRegularFile {
        if !isKnown(path, stamp) { follow(path, stamp) }
      } else {
        tracker.forget(path)
        do throws(SpoolError) {
          try InboxFolder.refuse(stamp, path)
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
    case .atRest(let path): examineFile(at: path)
    case .unmeasured(let path): measureFile(at: path)
    default: report(event)
    }
  }

  private mutating func look(at path: InboxPath) {
    switch watch.look(at: path) {
    case .found(_, let stamp) where stamp.isRegularFile:
      tracker.record(stamp, at: path, now: MonotonicTime.now)
    case let event?: take(event)
    case nil: break
    }
  }

  private func verdict(on file: borrowing ArrivedFile) throws(SpoolError) -> ContainerVerdict {
    let isNamed = file.path.name.map { SoundSign.isCarried(by: $0) } ?? false
    if !isNamed, !SoundSign.isCarried(by: try file.head(count: 16)) { return .foreign }
    return file.stamp.byteCount == 0 ? .empty : examine(file)
  }

  private mutating func examineFile(at path: InboxPath) {
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
      goOn(with: path)
    } catch {
      fail(path, error)
    }
  }

  /// What a JSON file says about transcripts. A transcript may be longer than a sidecar.
  private func words(
    of sidecar: Sidecar, _ file: borrowing ArrivedFile
  ) throws(SpoolError) -> StabilityEntry.Words? {
    guard tracker.rules.takesTranscripts, !sidecar.isCutOff else { return nil }
    if try file.isTranscript() { return .itself }
    return sidecar.written["transcript"]?.text.flatMap { FileName($0) }.map { .file($0) }
  }

  /// Whether a downloader's control file lies beside it.
  private mutating func isUnderDownload(_ path: InboxPath) -> Bool {
    guard let name = path.name else { return false }
    return watch.names.controlFiles(of: name).contains { control in
      if case .found = watch.look(at: path.folder.appending(control)) { true } else { false }
    }
  }

  private mutating func measureFile(at path: InboxPath) {
    do throws(SpoolError) {
      guard let file = try watch.open(path) else { return }
      let length = measure(file)
      tracker.record(length.map { .known($0) } ?? .unknown, of: file.stamp, at: path)
      goOn(with: path)
    } catch {
      fail(path, error)
    }
  }

  /// A file that proved to be complete has waited long enough.
  private mutating func goOn(with path: InboxPath) {
    switch tracker.event(of: path, at: MonotonicTime.now) {
    case .atRest, nil: break
    case let event?: take(event)
    }
  }

  private mutating func fail(_ path: InboxPath, _ error: SpoolError) {
    switch error.kind {
    // The next check shows it.
    case .missing, .changed: break
    // A passing condition, such as too many open files.
    case .system, .noRoom, .broken, .usage, .invalid, .unanswered, .reported, .newer, .unneeded,
      .occupied, nil:
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
