internal import AudioModel
internal import Inbox
internal import Media
internal import PipelineEngine
internal import PipelineModel

/// Does what an inbox's desk is asked for, one thing after the other. It belongs to the desk's
/// thread.
struct InboxClerk {
  private let custody: Custody
  private let watcher: InboxWatcher
  private let engine: WatchEngine
  private let report: @Sendable (Watch.Message) -> Void
  private let folders: ResultFolders
  /// When the folders for results are looked at again.
  private var nextLook = 0.0
  private var toldPause: InboxReport.Pause?
  /// Files that could not be taken in, and when they are looked at again.
  private var again: [InboxPath: Double] = [:]
  /// When custody's debts are to be paid; nil where there are none.
  private var nextSettling: Double?
  private var lastSettling = -Double.infinity
  private var lastProblems: Set<String> = []
  private var standing = InboxStanding()
  private var commands = WaitingCommands()
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

  /// Puts right what an earlier process left.
  mutating func begin() {
    note(custody.reconcile())
    report(.stirred)
  }

  /// Takes one piece of news from the watcher.
  mutating func take(_ arrival: Arrival) {
    switch arrival {
    case .settled(let recording): takeIn(recording)
    case .hopeless(let recording, let reason): takeIn(recording, refusal: reason)
    case .ignored(let path): standing.ignore(path)
    case .sidecar(let path, let stamp): takeSidecar(path, stamp)
    case .command(let path, let stamp):
      let issuedAt = custody.timeOfCommand(at: path, stamp: stamp)
      commands.add(
        WaitingCommands.Command(path: path, stamp: stamp, issuedAt: issuedAt),
        at: engine.clock.elapsed)
    case .unsettled(let path, let reason):
      standing.wait(path, Self.words(reason))
      tell(.unsettled, file: path.description, text: Self.words(reason))
    case .waiting(let path, let reason): standing.wait(path, reason)
    case .refused(let path, let error): refuse(path, error.reason)
    case .gone(let path):
      again[path] = nil
      standing.forget(path)
    case .inboxLost(let error): tell(.lost, text: error.reason)
    case .inboxBack: tell(.back)
    case .trouble(let error): tell(.trouble, text: error.description)
    }
  }

  private mutating func takeIn(_ recording: SettledRecording, refusal: String? = nil) {
    attempt(at: recording.path) { (clerk) throws(CustodyError) in
      let path = recording.path
      let intake = try clerk.custody.takeIn(
        recording, container: refusal == nil ? clerk.container(of: path) : nil, refusal: refusal)
      // It came with its recording, though it may have been told of before.
      if intake != .changed, let sidecar = recording.sidecar { clerk.standing.forget(sidecar) }
      switch intake {
      case .received(let note):
        clerk.tell(.received, note)
        clerk.warn(of: note)
      case .quarantined(let note): clerk.tell(.quarantined, note, text: note.reason)
      case .duplicate(let note):
        clerk.tell(.duplicate, note, file: path.description, text: "it has come before")
      case .conflict(let note, let other):
        // Whether a new one is the same sound is known once it is decoded.
        let isNew = note.revision == 1
        let isDecided = note.state == .quarantined || clerk.custody.rules.conflicts == .process
        clerk.tell(
          isDecided || !isNew ? .conflict : .received, note, file: isNew ? nil : path.description,
          text: Note.words(claiming: other)
            + (isNew ? "" : "; its bytes have come before, as \(note.fileName)"))
        clerk.warn(of: note)
      case .known: break
      case .changed: clerk.watcher.lookAgain(at: path)
      }
    }
    report(.stirred)
  }

  private mutating func takeSidecar(_ path: InboxPath, _ stamp: FileStamp) {
    attempt(at: path) { (clerk) throws(CustodyError) in
      switch try clerk.custody.takeSidecar(at: path, stamp: stamp) {
      case .attached(let note):
        clerk.tell(.sidecar, note, text: path.description)
        if note.isClaimOpen { clerk.tell(.conflict, note, text: note.reason) }
        clerk.warn(of: note)
      case .known: break
      case .refused(let refusal):
        clerk.refuse(path, refusal.reason)
      case .waiting: clerk.standing.wait(path, "its recording has not been taken in")
      case .changed: clerk.watcher.lookAgain(at: path)
      }
    }
  }

  private mutating func takeCommand(_ path: InboxPath, _ stamp: FileStamp) {
    attempt(at: path) { (clerk) throws(CustodyError) in
      switch try clerk.custody.takeCommand(at: path, stamp: stamp) {
      case .decided(let result, let request):
        clerk.tell(
          .command, file: path.description, key: result.note,
          text: CommandWords.text(request, result))
        if result.isFresh, request == .cancel, result.status == .applied, let note = result.note {
          clerk.report(.cancelled(note))
        }
      case .malformed(let reason):
        clerk.tell(.command, file: path.description, text: "refused: \(reason)")
      case .changed: clerk.watcher.lookAgain(at: path)
      }
    }
    report(.stirred)
  }

  /// Does something with a file; where it fails for a reason that may pass, the file is looked at
  /// again later, as if it had just come.
  private mutating func attempt(
    at path: InboxPath, _ work: (inout InboxClerk) throws(CustodyError) -> Void
  ) {
    standing.forget(path)
    do throws(CustodyError) {
      try work(&self)
      again[path] = nil
    } catch {
      switch error.kind {
      case .link, .wrongKind, .special, .sparse, .tooLarge:
        refuse(path, error.reason)
      default:
        standing.wait(path, error.description)
        again[path] = engine.clock.elapsed + Self.pause
        tell(.trouble, file: path.description, text: error.description, seconds: Self.pause)
      }
    }
    owesMore()
  }

  /// Leaves a file where it is, for a reason that its owner should know.
  private mutating func refuse(_ path: InboxPath, _ reason: String) {
    standing.refuse(path, reason)
    tell(.refused, file: path.description, text: reason)
  }

  /// Tells what speaks against a note's being whole, and what is wrong with its sidecar.
  private func warn(of note: Note) {
    let facts = KeptFacts(of: note)
    if let doubt = facts.doubt { tell(.warning, note, text: doubt) }
    for problem in facts.problems {
      tell(.warning, note, text: "its sidecar: \(problem)")
    }
  }

  /// After how many seconds a file that could not be taken in is looked at again.
  private static let pause = 15.0
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

  /// Seconds between two looks at the folders that results go to.
  private static let lookPause = 3.0

  /// Tells where one of them is away, and goes on once it is back.
  private mutating func lookAtFolders() {
    let pause = folders.look(at: engine.clock.now)
    nextLook = engine.clock.elapsed + Self.lookPause
    standing.pause(pause)
    if pause?.reason != toldPause?.reason {
      if let pause {
        tell(.paused, text: "\(pause.reason); \(pause.advice)")
      } else {
        tell(.back, text: "everything can be put where it belongs again")
        owesMore()
        report(.stirred)
      }
    }
    toldPause = pause
  }

  /// Pays custody's debts.
  mutating func settleUp() {
    nextSettling = nil
    note(custody.settle())
    lastSettling = engine.clock.elapsed
  }

  private mutating func note(_ settled: CustodyReport) {
    for note in settled.recovered { tell(.resumed, note) }
    for release in settled.released where release.file.role == .recording {
      tell(
        .released, file: release.file.path, key: release.file.note, text: release.words,
        place: release.place)
    }
    if settled.isAnyForgotten { report(.forgotten) }
    // There may be more of them than one payment covers.
    if !settled.released.isEmpty { owesMore() }
    // What goes on failing is told once.
    let problems = Set(settled.problems.filter { !isOfPause($0) }.map(\.description))
    for problem in problems.subtracting(lastProblems).sorted() { tell(.trouble, text: problem) }
    lastProblems = problems
    let pause = settled.nextCall ?? (settled.problems.isEmpty ? nil : Self.pause)
    guard let pause else { return }
    let due = engine.clock.elapsed + max(pause, 0.05)
    nextSettling = min(nextSettling ?? due, due)
  }

  /// Whether a problem is that the inbox or the outbox is away, which is told by itself.
  private func isOfPause(_ problem: CustodyError) -> Bool {
    [custody.inbox, custody.outbox].contains(problem.path) && folders.lastPause != nil
  }

  /// What the file's container says of it; nil where it says nothing that can be read.
  private func container(of path: InboxPath) -> ContainerFacts? {
    guard let folder = try? InboxFolder(at: custody.inbox), let file = try? folder.open(path),
      let found = try? MediaProbe.describe(file.readingPath)
    else { return nil }
    return ContainerFacts(tags: found.tags, duration: found.duration?.value)
  }

  private func tell(
    _ event: WatchNews.Event, _ note: Note? = nil, file: String? = nil, key: NoteKey? = nil,
    text: String? = nil, seconds: Double? = nil, place: NoteFile.Place? = nil
  ) {
    engine.recorder.record(
      WatchNews(
        event, at: engine.clock.now, inbox: custody.inbox, note: (note?.key ?? key)?.name,
        file: file ?? note?.fileName, text: text, seconds: seconds, place: place?.rawValue))
  }

  private static func words(_ reason: Unsettled) -> String {
    switch reason {
    case .stillWritten: "it is still being written to"
    case .unreadable(let what): "it cannot be examined: \(what)"
    case .markerMissing: "the file that says that it is complete is missing"
    case .sidecarMissing: "its sidecar is missing"
    case .sidecarUnreadable(let what): "its sidecar does not read: \(what)"
    }
  }
}
