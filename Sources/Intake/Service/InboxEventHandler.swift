import PipelineEngine
import PipelineModel
import Platform
import Store

/// Handles an inbox's events, one after the other, on the inbox worker's thread.
struct InboxEventHandler {
  let processor: InboxProcessor
  let watcher: InboxWatcher
  let engine: WatchEngine
  /// Has the watch's thread do something.
  let report: @Sendable (@escaping WatchRound.Action) -> Void
  let folders: ResultFolders
  /// What its pipeline has delivered of a recording.
  let deliveries: [DeliveryRequest]
  /// When the folders for results are checked again.
  var nextLook = 0.0
  var toldPause: InboxReport.Pause?
  /// Files that could not be taken in, and when each is examined again.
  var again: [InboxPath: Double] = [:]
  /// Sidecars and transcripts whose recording is done, while another one of its name may come.
  var held: [InboxPath: HeldCompanion] = [:]
  /// How long they wait, in seconds.
  let holdPeriod: Double
  /// When acknowledgements and releases are written next; nil if none are due.
  var nextSettling: Double?
  var lastSettling = -Double.infinity
  var lastProblems: Set<String> = []
  /// Why new settings are not used; nil if they are.
  private var settingsProblem: String?
  /// The number of ignored files that was last reported.
  var toldOverlookedCount = 0
  var status = InboxStatus()
  /// Whether files are still taken in.
  var isTaking = true
  private(set) var isClosed = false
  private var commands = WaitingCommands()
  /// Commands that were applied before the watcher reported them.
  private var earlyCommands: [InboxPath: FileStamp] = [:]
  /// Publishes the inbox's state for other processes.
  private let publish: (String) -> Void

  init(
    processor: InboxProcessor, watcher: InboxWatcher, folders: ResultFolders,
    deliveries: [DeliveryRequest], engine: WatchEngine, holdPeriod: Double,
    publish: @escaping (String) -> Void,
    report: @escaping @Sendable (@escaping WatchRound.Action) -> Void
  ) {
    self.processor = processor
    self.watcher = watcher
    self.folders = folders
    self.deliveries = deliveries
    self.engine = engine
    self.holdPeriod = holdPeriod
    self.report = report
    self.publish = publish
  }

  var wait: Duration {
    let next = again.values.min().map { min($0, nextSettling ?? $0) } ?? nextSettling
    let soonest = [next, status.due, commands.due, held.values.map(\.due).min()].compactMap { $0 }
      .reduce(nextLook, min)
    return .seconds(max(0, soonest - engine.clock.elapsed))
  }

  /// Repairs what an earlier process left, and applies the commands that arrived meanwhile: a
  /// cancelled or renamed recording must not be processed first.
  mutating func begin() {
    record(processor.reconcile())
    if folders.inboxAbsence == nil { takeWholeCommands() }
    report { [inbox = processor.inbox] in $0.begin(inbox: inbox) }
  }

  private mutating func takeWholeCommands() {
    var waiting = WaitingCommands()
    for (path, stamp, issuedAt) in processor.wholeCommands() {
      waiting.add(WaitingCommands.Command(path: path, stamp: stamp, issuedAt: issuedAt), at: 0)
    }
    for command in waiting.take(at: .infinity) {
      earlyCommands[command.path] = command.stamp
      takeCommand(command.path, command.stamp)
    }
  }

  /// Settles what is due, and ends the work.
  mutating func close() {
    settleUp()
    isClosed = true
  }

  mutating func take(_ event: InboxEvent) {
    guard isTaking else { return }
    switch event {
    case .settled(let recording): takeIn(recording)
    case .hopeless(let recording, let reason): takeIn(recording, refusal: reason)
    case .ignored(let path): status.ignore(path)
    case .sidecar(let path, let stamp): takeSidecar(path, stamp)
    case .transcript(let path, let stamp): takeTranscript(path, stamp)
    case .command(let path, let stamp):
      // The watcher reports a file that stays only once.
      if earlyCommands.removeValue(forKey: path) == stamp, again[path] == nil { return }
      let issuedAt = processor.timeOfCommand(at: path, stamp: stamp)
      commands.add(
        WaitingCommands.Command(path: path, stamp: stamp, issuedAt: issuedAt),
        at: engine.clock.elapsed)
    case .unsettled(let path, let reason):
      status.wait(path, reason.words)
      tell(.unsettled, file: path.description, text: reason.words)
    case .waiting(let path, let reason): status.wait(path, reason)
    case .refused(let path, let error): refuse(path, error.why)
    case .gone(let path):
      again[path] = nil
      held[path] = nil
      earlyCommands[path] = nil
      status.forget(path)
    case .overlooked(let files): overlook(files)
    case .inboxLost(let error): tell(.lost, text: error.reason)
    case .inboxBack: tell(.back)
    case .trouble(let error): tell(.trouble, text: error.description)
    // Of the folder watch and the monitor.
    case .touched, .folderCame, .folderLeft, .inboxLeft, .found, .written, .closed, .writersLost,
      .atRest, .unmeasured:
      break
    }
  }

  /// Seconds until a file that could not be taken in is examined again.
  static let pause = 15.0
  /// Seconds between two settlements, so that acknowledgements of many recordings are written
  /// together.
  private static let settlingPause = 0.5

  /// Schedules a settlement.
  mutating func owesMore() {
    let due = max(engine.clock.elapsed, lastSettling + Self.settlingPause)
    nextSettling = min(nextSettling ?? due, due)
  }

  mutating func turn() {
    let now = engine.clock.elapsed
    for (path, time) in again where time <= now {
      again[path] = nil
      watcher.lookAgain(at: path)
    }
    if isTaking { takeHeld() }
    for command in commands.take(at: now) { takeCommand(command.path, command.stamp) }
    if nextLook <= now { lookAtFolders() }
    if let due = nextSettling, due <= now { settleUp() }
    // The last word on a watch that stops is how it ends.
    if isTaking, let text = status.textToPublish(at: now) { publish(text) }
  }

  func tell(
    _ event: WatchEvent.Event, _ recording: Recording? = nil, file: String? = nil,
    key: RecordingKey? = nil,
    text: String? = nil, seconds: Double? = nil, place: RecordingFile.Place? = nil
  ) {
    engine.record(
      WatchEvent(
        event, at: engine.clock.now, inbox: processor.inbox,
        recording: (recording?.key ?? key)?.name,
        file: file ?? recording?.fileName, text: text, seconds: seconds, place: place?.rawValue))
  }
}

/// Stable commands, held until those that came with them are stable too: they are applied in the
/// order of issue, whatever their files are called. It reads no clock.
struct WaitingCommands {
  struct Command: Hashable {
    let path: InboxPath
    let stamp: FileStamp
    /// When it was issued, in seconds since 1970.
    let issuedAt: Double
  }

  /// Seconds to wait for the next command.
  private static let pause = 0.25
  /// The longest wait for the first one, in seconds.
  private static let limit = 2.0

  private var commands: [Command] = []
  private var firstTime = 0.0

  /// When they are due, in seconds; nil if there are none.
  private(set) var due: Double?

  /// Adds a command that has just become stable.
  /// - Parameter time: in seconds, by the clock of ``due``.
  mutating func add(_ command: Command, at time: Double) {
    if commands.isEmpty { firstTime = time }
    commands.append(command)
    due = min(time + Self.pause, firstTime + Self.limit)
  }

  /// Removes all commands, by time of issue and then by name; none before they are due. O(n log n).
  mutating func take(at time: Double) -> [Command] {
    guard let due, due <= time else { return [] }
    defer { (commands, self.due) = ([], nil) }
    return commands.sorted {
      $0.issuedAt != $1.issuedAt
        ? $0.issuedAt < $1.issuedAt
        : $0.path.bytes.lexicographicallyPrecedes($1.path.bytes)
    }
  }
}

/// Acknowledgements, releases and the folders that they need.
extension InboxEventHandler {
  /// Seconds between two checks of the folders for results.
  private static let lookPause = 3.0

  /// Reports a folder that is away or a receipt that cannot be signed, and resumes once that is
  /// mended.
  mutating func lookAtFolders() {
    let pause = folders.look(at: engine.clock.now)
    nextLook = engine.clock.elapsed + Self.lookPause
    status.pause(pause)
    if pause?.reason != toldPause?.reason {
      if let pause {
        tell(.paused, text: "\(pause.reason); \(pause.advice)")
      } else {
        tell(.back, text: "nothing is in the way any more")
        owesMore()
        report { $0.isStirred = true }
      }
    }
    toldPause = pause
  }

  mutating func settleUp() {
    nextSettling = nil
    record(processor.settle())
    lastSettling = engine.clock.elapsed
  }

  /// Reports what was settled, and schedules the next settlement.
  mutating func record(_ settled: InboxProcessor.Report) {
    for (recording, destinations) in settled.confirmed {
      engine.record(WatchEvent(confirmed: recording, by: destinations, at: engine.clock.now))
    }
    for release in settled.released where release.file.role == .recording {
      tell(
        .released, file: InboxPath(escaped: release.file.path)?.description ?? release.file.path,
        key: release.file.recording, text: release.words,
        place: release.place)
    }
    for result in settled.decidedLate {
      tell(
        .command, file: "\(result.id).command.json", key: result.recording,
        text: result.lateWords)
      if result.request == .cancel, result.status == .applied, let recording = result.recording {
        report { $0.cancel(recording) }
      }
    }
    if settled.isAnyForgotten { report { $0.recheck() } }
    // There may be more than one settlement covers.
    if !settled.released.isEmpty { owesMore() }
    // A problem that persists is reported once.
    let problems = Set(settled.problems.filter { !isOfPause($0) }.map(\.description))
    for problem in problems.subtracting(lastProblems).sorted() { tell(.trouble, text: problem) }
    lastProblems = problems
    reportProblems()
    let pause = settled.nextCall ?? (settled.problems.isEmpty ? nil : Self.pause)
    guard let pause else { return }
    let due = engine.clock.elapsed + max(pause, 0.05)
    nextSettling = min(nextSettling ?? due, due)
  }

  /// Records why new settings are not used; nil if they are.
  mutating func note(settingsProblem: String?) {
    self.settingsProblem = settingsProblem
    reportProblems()
  }

  private mutating func reportProblems() {
    status.report(lastProblems.union([settingsProblem].compactMap(\.self)))
  }

  /// Whether a problem is an absent inbox or outbox, which is reported separately.
  private func isOfPause(_ problem: SpoolError) -> Bool {
    [processor.inbox, processor.outbox].contains(problem.path) && folders.lastPause != nil
  }
}

/// The files in an inbox that are no recordings, and when their report is due. It reads no clock
/// and writes nothing.
struct InboxStatus {
  /// How many files of a kind are named in the report; all are counted.
  private static let nameLimit = 100
  /// Seconds between two reports: each is flushed to the disk.
  private static let pause = 2.0

  private var waiting: [InboxPath: String] = [:]
  private var refused: [InboxPath: String] = [:]
  /// The hashes of their paths: of tens of thousands, only the number matters.
  private var ignored: Set<Int> = []
  private var ignoredNames: Set<InboxPath> = []
  private var overlooked: InboxReport.Overlooked?
  private var pause: InboxReport.Pause?
  private var problems: [String]?
  private var published: InboxReport?
  private var lastTime = -Double.infinity
  private var isChanged = true

  /// When the next report is due, in seconds; nil if nothing changed.
  var due: Double? { isChanged ? lastTime + Self.pause : nil }

  /// Records a file that may be taken in later.
  mutating func wait(_ path: InboxPath, _ reason: String) {
    forget(path)
    waiting[path] = reason
    isChanged = true
  }

  /// Records why processing pauses; nil if it does not.
  mutating func pause(_ pause: InboxReport.Pause?) {
    isChanged = isChanged || pause != self.pause
    self.pause = pause
  }

  /// Records what keeps acknowledgements and files from their places.
  mutating func report(_ problems: Set<String>) {
    let sorted = problems.isEmpty ? nil : problems.sorted()
    isChanged = isChanged || sorted != self.problems
    self.problems = sorted
  }

  /// Records files that have been ignored for their names for too long.
  mutating func overlook(_ files: IgnoredFiles) {
    isChanged = true
    overlooked = files.since.map { since in
      InboxReport.Overlooked(
        since: Double(since) / 1e9,
        group: InboxReport.Group(
          count: files.count,
          files: files.files.map {
            InboxReport.File(
              path: $0.path.description, exactPath: $0.path.escaped, reason: $0.reason)
          }))
    }
  }

  /// Records a file that stays where it is.
  mutating func refuse(_ path: InboxPath, _ reason: String) {
    forget(path)
    refused[path] = reason
    isChanged = true
  }

  /// Records a file of a kind that the inbox does not take.
  mutating func ignore(_ path: InboxPath) {
    forget(path)
    ignored.insert(path.hashValue)
    if ignoredNames.count < Self.nameLimit { ignoredNames.insert(path) }
    isChanged = true
  }

  /// Records that a file is gone, or has changed.
  mutating func forget(_ path: InboxPath) {
    let isKnown =
      waiting.removeValue(forKey: path) != nil || refused.removeValue(forKey: path) != nil
      || ignored.remove(path.hashValue) != nil
    ignoredNames.remove(path)
    isChanged = isChanged || isKnown
  }

  /// The report as JSON; nil if none is due.
  /// - Parameter time: in seconds, by the clock of ``due``.
  mutating func textToPublish(at time: Double) -> String? {
    guard let due, due <= time else { return nil }
    (isChanged, lastTime) = (false, time)
    let report = InboxReport(
      waiting: Self.group(waiting, count: waiting.count),
      refused: Self.group(refused, count: refused.count),
      ignored: Self.group(
        Dictionary(uniqueKeysWithValues: ignoredNames.map { ($0, nil) }), count: ignored.count),
      overlooked: overlooked, pause: pause, problems: problems)
    guard report != published, let text = try? report.jsonText() else { return nil }
    published = report
    return text
  }

  private static func group(
    _ files: [InboxPath: String?], count: Int
  ) -> InboxReport.Group {
    let named = files.sorted { $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) }
      .prefix(nameLimit)
    return InboxReport.Group(
      count: count,
      files: named.map {
        InboxReport.File(
          path: $0.key.description, exactPath: $0.key.escaped, reason: $0.value)
      })
  }
}
