internal import Inbox
internal import PipelineEngine
internal import PipelineModel
internal import Threading

/// The bookkeeping of a watch: its desks, the work under way, and what comes next. It belongs to the
/// thread that decides.
struct WatchRound {
  /// Between two looks at what other processes may have changed in the store.
  private static let lookPeriod = 3.0

  private let engine: WatchEngine
  private let mail: Mailbox<Watch.Message>
  private var desks: [String: InboxDesk] = [:]
  /// Inboxes of which is not known yet what devices asked for while nobody watched.
  private var opening: Set<String> = []
  private var underWay: [NoteKey: StopRequest] = [:]
  /// Notes whose work is over without the ledger's having taken that in: it takes them for under
  /// way.
  private var stranded: Set<NoteKey> = []
  private var jobs = 1
  private var lastVersion: Int64 = -1
  private var nextAttempt: Double?
  private var lastTrouble: String?

  /// Whether there may be something to do.
  var isStirred = true

  init(_ engine: WatchEngine, mail: Mailbox<Watch.Message>) {
    self.engine = engine
    self.mail = mail
  }

  /// How many recordings are worked on.
  var underWayCount: Int { underWay.count }

  /// How it stands, for one line.
  var summary: String {
    let inboxes = desks.count == 1 ? "1 inbox" : "\(desks.count) inboxes"
    let pausedCount = desks.values.count { $0.folders.lastPause != nil }
    return "watching \(inboxes)" + (underWay.isEmpty ? "" : ", \(underWay.count) under way")
      + (pausedCount == 0 ? "" : ", \(pausedCount) paused")
  }

  /// Until when nothing needs to be done by itself.
  var wait: Duration {
    // Where every hand is busy, the next one that is free says so.
    guard let nextAttempt, underWay.count < jobs else { return .seconds(Self.lookPeriod) }
    // What is due and was not begun is another watch's.
    return .seconds(min(Self.lookPeriod, max(0.25, nextAttempt - engine.store.noteTime)))
  }

  /// Begins to watch.
  mutating func adopt(_ settings: WatchSettings) throws(StageError) {
    jobs = settings.jobs
    for settings in settings.inboxes { try open(settings) }
  }

  /// Takes over new settings: inboxes that are gone are let go of, and those that are other than
  /// they were are begun anew. Work under way goes on as it was begun.
  mutating func readopt(_ settings: WatchSettings) {
    jobs = settings.jobs
    let wanted = Dictionary(settings.inboxes.map { ($0.path, $0) }, uniquingKeysWith: { $1 })
    for (path, desk) in desks where wanted[path].map({ !$0.isSame(as: desk.settings) }) ?? true {
      desks[path] = nil
      opening.remove(path)
      desk.close()
    }
    for settings in settings.inboxes where desks[settings.path] == nil {
      do throws(StageError) { try open(settings) } catch {
        tell(.trouble, inbox: settings.path, text: error.message)
      }
    }
    isStirred = true
    tell(.reloaded, text: summary)
  }

  private mutating func open(_ settings: InboxSettings) throws(StageError) {
    let desk = try InboxDesk(settings, engine: engine) { [mail] in mail.send($0) }
    desks[settings.path] = desk
    opening.insert(settings.path)
    tell(.watching, inbox: settings.path, text: "for \(settings.pipeline.definition.name)")
  }

  /// Notes that an inbox's recordings may be worked on.
  mutating func begin(inbox: String) {
    opening.remove(inbox)
    isStirred = true
  }

  /// Notes that a recording's work is over.
  mutating func end(_ key: NoteKey, inbox: String, isRecorded: Bool) {
    underWay[key] = nil
    if !isRecorded { stranded.insert(key) }
    desks[inbox]?.settleUp()
    isStirred = true
  }

  /// Has every inbox asked anew what in it was dealt with.
  func recheck() {
    for desk in desks.values { desk.recheck() }
  }

  /// Ends the work on a note that is not wanted any more.
  mutating func cancel(_ key: NoteKey) { underWay[key]?.request(signal: 15) }

  /// Begins what is to be done now.
  mutating func turn() {
    do throws(StoreError) {
      try putBack()
      let version = try engine.store.noteVersion()
      let isDue = nextAttempt.map { $0 <= engine.store.noteTime } ?? false
      guard isStirred || isDue || version != lastVersion else { return }
      if version != lastVersion { for desk in desks.values { desk.settleUp() } }
      lastVersion = version
      isStirred = false
      nextAttempt = nil
      for name in Set(desks.values.map(\.settings.pipelineName)).sorted() { try begin(name) }
      lastTrouble = nil
    } catch {
      isStirred = true
      let words = "cannot \(error.action) \(error.path): \(error.reason)"
      if words != lastTrouble { tell(.trouble, text: words) }
      lastTrouble = words
    }
  }

  /// Has the ledger know that nobody is at the notes any more whose work could not be recorded.
  private mutating func putBack() throws(StoreError) {
    for key in stranded.sorted(by: { $0.name < $1.name }) {
      // What was recorded after all refuses this.
      _ = try engine.store.change(
        key, .putBack(reason: "what became of it could not be recorded"))
      stranded.remove(key)
      isStirred = true
    }
  }

  private mutating func begin(_ pipeline: String) throws(StoreError) {
    if let next = try engine.store.nextAttempt(pipeline: pipeline) {
      nextAttempt = min(nextAttempt ?? next, next)
    }
    guard underWay.count < jobs else { return }
    let isOpening = desks.values.contains {
      $0.settings.pipelineName == pipeline && opening.contains($0.settings.path)
    }
    if isOpening { return }
    // Beside those under way, there may be some of inboxes that another process watches, and many
    // of inboxes that pause.
    let isAnyPaused = desks.values.contains { $0.folders.lastPause != nil }
    let due = try engine.store.dueNotes(
      pipeline: pipeline, at: engine.store.noteTime,
      limit: isAnyPaused ? .max : underWay.count + jobs + 64)
    for note in due where underWay.count < jobs && underWay[note.key] == nil {
      guard let desk = desks[note.inbox], desk.settings.pipelineName == pipeline,
        desk.folders.lastPause == nil
      else { continue }
      let stop = StopRequest()
      underWay[note.key] = stop
      let job = NoteJob(
        engine: engine, settings: desk.settings, note: note, folders: desk.folders, stop: stop)
      BackgroundThread(name: "note") { [mail] in
        let isRecorded = job.run()
        mail.send(.ended(note.key, inbox: note.inbox, isRecorded: isRecorded))
      }.letGo()
    }
  }

  /// Ends everything: what is under way comes to a point where it can be gone on with.
  /// - Returns: whether it did in time.
  mutating func drain(patience: Double, mail: Mailbox<Watch.Message>) -> Bool {
    tell(.stopping, text: underWay.isEmpty ? nil : "\(underWay.count) under way")
    let deadline = engine.clock.elapsed + patience
    for stop in underWay.values { stop.request(signal: 15) }
    for desk in desks.values { desk.beginToClose() }
    while !underWay.isEmpty, engine.clock.elapsed < deadline {
      let left = max(0, deadline - engine.clock.elapsed)
      for message in mail.receive(atMost: .seconds(min(left, 1))) {
        if case .ended(let key, _, let isRecorded) = message {
          underWay[key] = nil
          if !isRecorded { stranded.insert(key) }
        }
      }
    }
    // Where it fails again, the next watch finds notes of a process that has died.
    try? putBack()
    guard underWay.isEmpty else {
      for desk in desks.values { desk.abandon() }
      return false
    }
    for desk in desks.values { desk.close() }
    tell(.stopped)
    return true
  }

  private func tell(_ event: WatchNews.Event, inbox: String? = nil, text: String? = nil) {
    engine.recorder.record(WatchNews(event, at: engine.clock.now, inbox: inbox, text: text))
  }
}
