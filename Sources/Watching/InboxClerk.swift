internal import Inbox
internal import PipelineEngine
internal import PipelineModel

/// Does what an inbox's desk is asked for, one thing after the other. It belongs to the desk's
/// thread.
struct InboxClerk {
  let custody: Custody
  let watcher: InboxWatcher
  let engine: WatchEngine
  let report: @Sendable (Watch.Message) -> Void
  let folders: ResultFolders
  /// When the folders for results are looked at again.
  var nextLook = 0.0
  var toldPause: InboxReport.Pause?
  /// Files that could not be taken in, and when they are looked at again.
  var again: [InboxPath: Double] = [:]
  /// When custody's debts are to be paid; nil where there are none.
  var nextSettling: Double?
  var lastSettling = -Double.infinity
  var lastProblems: Set<String> = []
  /// How many files were told to be left alone for their names.
  var toldOverlookedCount = 0
  var standing = InboxStanding()
  private var commands = WaitingCommands()
  /// Commands that were done before the watcher told of them.
  private var earlyCommands: [InboxPath: FileStamp] = [:]
  /// Takes down how the inbox stands, for whoever asks how the store does.
  private let publish: (String) -> Void

  init(
    custody: Custody, watcher: InboxWatcher, folders: ResultFolders, engine: WatchEngine,
    publish: @escaping (String) -> Void, report: @escaping @Sendable (Watch.Message) -> Void
  ) {
    self.custody = custody
    self.watcher = watcher
    self.folders = folders
    self.engine = engine
    self.report = report
    self.publish = publish
  }

  /// How long nothing needs to be done.
  var wait: Duration {
    let next = again.values.min().map { min($0, nextSettling ?? $0) } ?? nextSettling
    let soonest = [next, standing.due, commands.due].compactMap { $0 }.reduce(nextLook, min)
    return .seconds(max(0, soonest - engine.clock.elapsed))
  }

  /// Puts right what an earlier process left, and does what devices asked for meanwhile: whoever
  /// cancels or renames a note wants that before it is gone on with.
  mutating func begin() {
    note(custody.reconcile())
    if folders.inboxAbsence == nil { takeWholeCommands() }
    report(.opened(inbox: custody.inbox))
  }

  private mutating func takeWholeCommands() {
    var waiting = WaitingCommands()
    for (path, stamp, issuedAt) in custody.wholeCommands() {
      waiting.add(WaitingCommands.Command(path: path, stamp: stamp, issuedAt: issuedAt), at: 0)
    }
    for command in waiting.take(at: .infinity) {
      earlyCommands[command.path] = command.stamp
      takeCommand(command.path, command.stamp)
    }
  }

  /// Takes one piece of news from the watcher.
  mutating func take(_ arrival: Arrival) {
    switch arrival {
    case .settled(let recording): takeIn(recording)
    case .hopeless(let recording, let reason): takeIn(recording, refusal: reason)
    case .ignored(let path): standing.ignore(path)
    case .sidecar(let path, let stamp): takeSidecar(path, stamp)
    case .transcript(let path, let stamp): takeTranscript(path, stamp)
    case .command(let path, let stamp):
      // The watcher tells once of what stays where it is.
      if earlyCommands.removeValue(forKey: path) == stamp, again[path] == nil { return }
      let issuedAt = custody.timeOfCommand(at: path, stamp: stamp)
      commands.add(
        WaitingCommands.Command(path: path, stamp: stamp, issuedAt: issuedAt),
        at: engine.clock.elapsed)
    case .unsettled(let path, let reason):
      standing.wait(path, reason.words)
      tell(.unsettled, file: path.description, text: reason.words)
    case .waiting(let path, let reason): standing.wait(path, reason)
    case .refused(let path, let error): refuse(path, error.reason)
    case .gone(let path):
      again[path] = nil
      earlyCommands[path] = nil
      standing.forget(path)
    case .overlooked(let files): overlook(files)
    case .inboxLost(let error): tell(.lost, text: error.reason)
    case .inboxBack: tell(.back)
    case .trouble(let error): tell(.trouble, text: error.description)
    }
  }

  /// After how many seconds a file that could not be taken in is looked at again.
  static let pause = 15.0
  /// Seconds between two payments: acknowledgements of many notes go out together.
  private static let settlingPause = 0.5

  /// Notes that custody's debts may have grown.
  mutating func owesMore() {
    let due = max(engine.clock.elapsed, lastSettling + Self.settlingPause)
    nextSettling = min(nextSettling ?? due, due)
  }

  /// Does what is due.
  mutating func turn() {
    let now = engine.clock.elapsed
    for (path, time) in again where time <= now {
      again[path] = nil
      watcher.lookAgain(at: path)
    }
    for command in commands.take(at: now) { takeCommand(command.path, command.stamp) }
    if nextLook <= now { lookAtFolders() }
    if let due = nextSettling, due <= now { settleUp() }
    if let text = standing.textToPublish(at: now) { publish(text) }
  }

  /// Tells one thing that happened.
  func tell(
    _ event: WatchNews.Event, _ note: Note? = nil, file: String? = nil, key: NoteKey? = nil,
    text: String? = nil, seconds: Double? = nil, place: NoteFile.Place? = nil
  ) {
    engine.recorder.record(
      WatchNews(
        event, at: engine.clock.now, inbox: custody.inbox, note: (note?.key ?? key)?.name,
        file: file ?? note?.fileName, text: text, seconds: seconds, place: place?.rawValue))
  }
}
