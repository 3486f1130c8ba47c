import PipelineEngine
import PipelineModel
import Platform
import Store

/// The bookkeeping of a watch: its inbox workers, the jobs in progress, and what comes next. It
/// belongs to the thread that decides.
struct WatchRound {
  /// What another thread has it do.
  typealias Action = @Sendable (inout WatchRound) -> Void

  /// Seconds between two checks for changes by other processes.
  private static let lookPeriod = 3.0

  private let engine: WatchEngine
  private let mail: Mailbox<Action>
  private var workers: [String: InboxWorker] = [:]
  /// Inboxes whose pending commands are not known yet.
  private var opening: Set<String> = []
  private var underWay: [RecordingKey: StopRequest] = [:]
  /// Recordings whose job ended without a recorded outcome: the store has them in progress.
  private var stranded: Set<RecordingKey> = []
  private var jobs = 1
  private var lastVersion: Int64 = -1
  private var nextAttempt: Double?
  private var lastTrouble: String?
  /// Why the watch cannot continue at all: a newer Spool has upgraded the store.
  private(set) var obstacle: SpoolError?

  /// Whether a recording may have changed, so that there may be something to do.
  var isStirred = true
  /// Whether the settings are to be loaded again.
  var isToReload = false

  init(_ engine: WatchEngine, mail: Mailbox<Action>) {
    self.engine = engine
    self.mail = mail
  }

  var underWayCount: Int { underWay.count }
  /// Whether the commands of an inbox are still to be applied before its recordings.
  var isOpening: Bool { !opening.isEmpty }

  /// The state in one line.
  var summary: String {
    let inboxes = workers.count == 1 ? "1 inbox" : "\(workers.count) inboxes"
    let pausedCount = workers.values.count { $0.folders.lastPause != nil }
    return "watching \(inboxes)" + (underWay.isEmpty ? "" : ", \(underWay.count) under way")
      + (pausedCount == 0 ? "" : ", \(pausedCount) paused")
  }

  /// How long nothing needs to be done without an event.
  var wait: Duration {
    // If every job slot is busy, the next one to end sends a message.
    guard let nextAttempt, underWay.count < jobs else { return .seconds(Self.lookPeriod) }
    // A recording that is due and did not begin is another watch's.
    return .seconds(min(Self.lookPeriod, max(0.25, nextAttempt - engine.store.recordings.now)))
  }

  mutating func adopt(_ settings: WatchSettings) throws(SpoolError) {
    jobs = settings.jobs
    for settings in settings.inboxes { try open(settings) }
  }

  /// Applies new settings: closes inboxes that are gone and restarts those that changed. Jobs in
  /// progress keep their settings.
  mutating func readopt(_ settings: WatchSettings) {
    jobs = settings.jobs
    note(settingsProblem: nil)
    let wanted = Dictionary(settings.inboxes.map { ($0.path, $0) }, uniquingKeysWith: { $1 })
    for (path, worker) in workers
    where wanted[path].map({ !$0.isSame(as: worker.settings) }) ?? true {
      workers[path] = nil
      opening.remove(path)
      worker.close()
    }
    for settings in settings.inboxes where workers[settings.path] == nil {
      do throws(SpoolError) { try open(settings) } catch {
        tell(.trouble, inbox: settings.path, text: error.message)
      }
    }
    isStirred = true
    tell(.reloaded, text: summary)
  }

  /// Has every inbox report why new settings are not used; nil if they are.
  func note(settingsProblem: String?) {
    for worker in workers.values { worker.note(settingsProblem: settingsProblem) }
  }

  private mutating func open(_ settings: InboxSettings) throws(SpoolError) {
    let worker = try InboxWorker(settings, engine: engine, report: mail.send)
    workers[settings.path] = worker
    opening.insert(settings.path)
  }

  /// Records that an inbox's recordings may be processed: it is repaired after the last process, and
  /// its pending commands are applied.
  mutating func begin(inbox: String) {
    opening.remove(inbox)
    isStirred = true
  }

  /// Records the end of a job.
  /// - Parameter isRecorded: whether the store has its outcome.
  mutating func end(_ key: RecordingKey, inbox: String, isRecorded: Bool) {
    underWay[key] = nil
    if !isRecorded { stranded.insert(key) }
    workers[inbox]?.settleUp()
    isStirred = true
  }

  /// Has every inbox check again which files are known, after recordings were forgotten: their
  /// files, if still in an inbox, are new.
  func recheck() {
    for worker in workers.values { worker.recheck() }
  }

  /// Stops the job of a cancelled recording.
  mutating func cancel(_ key: RecordingKey) { underWay[key]?.request(signal: 15) }

  /// Starts the jobs that are due.
  mutating func turn() {
    do throws(SpoolError) {
      try engine.checkPlaceOfStore()
      try putBack()
      let version = try engine.store.recordings.version()
      let isDue = nextAttempt.map { $0 <= engine.store.recordings.now } ?? false
      guard isStirred || isDue || version != lastVersion else { return }
      if version != lastVersion { for worker in workers.values { worker.settleUp() } }
      lastVersion = version
      isStirred = false
      nextAttempt = nil
      for name in Set(workers.values.map(\.settings.pipelineName)).sorted() { try begin(name) }
      lastTrouble = nil
    } catch {
      isStirred = true
      if error.kind == .newer { return obstacle = error }
      let words = "\(error.message): \(error.why)"
      if words != lastTrouble { tell(.trouble, text: words) }
      lastTrouble = words
    }
  }

  /// Returns recordings to `received` whose final state could not be saved.
  private mutating func putBack() throws(SpoolError) {
    for key in stranded.sorted(by: { $0.name < $1.name }) {
      // The store refuses this for an outcome that was recorded after all.
      _ = try engine.store.recordings.change(
        key, .putBack(reason: "what became of it could not be recorded"))
      stranded.remove(key)
      isStirred = true
    }
  }

  private mutating func begin(_ pipeline: String) throws(SpoolError) {
    if let next = try engine.store.recordings.nextAttempt(pipeline: pipeline) {
      nextAttempt = min(nextAttempt ?? next, next)
    }
    guard underWay.count < jobs else { return }
    let isOpening = workers.values.contains {
      $0.settings.pipelineName == pipeline && opening.contains($0.settings.path)
    }
    if isOpening { return }
    // Besides those in progress, the first due recordings may belong to inboxes that another
    // process watches or that pause.
    let isAnyPaused = workers.values.contains { $0.folders.lastPause != nil }
    let due = try engine.store.recordings.due(
      pipeline: pipeline, at: engine.store.recordings.now,
      limit: isAnyPaused ? .max : underWay.count + jobs + 64)
    for recording in due where underWay.count < jobs && underWay[recording.key] == nil {
      guard let worker = workers[recording.inbox], worker.settings.pipelineName == pipeline,
        worker.folders.lastPause == nil
      else { continue }
      let stop = StopRequest()
      underWay[recording.key] = stop
      let job = RecordingJob(
        engine: engine, settings: worker.settings, recording: recording, folders: worker.folders,
        stop: stop)
      BackgroundThread(name: "note") { [mail] in
        let isRecorded = job.run()
        mail.send { $0.end(recording.key, inbox: recording.inbox, isRecorded: isRecorded) }
      }.letGo()
    }
  }

  /// Stops everything: jobs in progress stop at a point from which they can resume.
  /// - Returns: whether all stopped in time.
  mutating func drain(patience: Double) -> Bool {
    tell(.stopping, text: underWay.isEmpty ? nil : "\(underWay.count) under way")
    let deadline = engine.clock.elapsed + patience
    for stop in underWay.values { stop.request(signal: 15) }
    for worker in workers.values { worker.beginToClose() }
    while !underWay.isEmpty, engine.clock.elapsed < deadline {
      let left = max(0, deadline - engine.clock.elapsed)
      for action in mail.receive(atMost: .seconds(min(left, 1))) { action(&self) }
    }
    // If it fails again, the next watch finds recordings of a dead process.
    try? putBack()
    guard underWay.isEmpty else {
      let inboxes = try? engine.store.inboxes.watchedInboxes()
      for worker in workers.values {
        worker.abandon(after: inboxes?.first { $0.path == worker.settings.path }?.report)
      }
      return false
    }
    for worker in workers.values { worker.close() }
    tell(.stopped)
    return true
  }

  private func tell(_ event: WatchEvent.Event, inbox: String? = nil, text: String? = nil) {
    engine.record(WatchEvent(event, at: engine.clock.now, inbox: inbox, text: text))
  }
}

/// One inbox at work: its watcher reports arrivals, and a thread of its own takes files in and
/// releases them through its ``InboxProcessor``.
final class InboxWorker: Sendable {
  let settings: InboxSettings
  /// The folders for its results.
  let folders: ResultFolders

  /// What the inbox's thread has to do, in order.
  private let mail = Mailbox<@Sendable (inout InboxEventHandler) -> Void>()
  /// Keeps other processes off this inbox while it is held.
  private let claim: any WorkClaim
  private let watcher: InboxWatcher
  private let thread: BackgroundThread
  /// Ends the reading of a file that is taken in.
  private let stop: StopRequest

  /// Begins to watch, after repairing what an earlier process left.
  /// - Parameter report: has the watch's thread do something.
  /// - Throws: if another process watches the inbox.
  init(
    _ settings: InboxSettings, engine: WatchEngine,
    report: @escaping @Sendable (@escaping WatchRound.Action) -> Void
  ) throws(SpoolError) {
    self.settings = settings
    let folders = try ResultFolders(
      of: settings, in: engine.store,
      receiptWriter: settings.pipeline.asksForReceipts ? engine.receiptWriter : nil)
    self.folders = folders
    let claim = try Self.claim(settings, engine)
    self.claim = claim
    let processor = InboxProcessor(
      inbox: settings.path,
      outbox: Outbox(
        path: settings.outbox, others: settings.otherOutboxes, pipelines: settings.otherPipelines),
      pipeline: settings.pipelineName, rules: settings.recordingRules, store: engine.store,
      option: engine.option,
      isInPlace: { folders.isReachable($0) })
    stop = processor.stop
    do throws(SpoolError) { try processor.claimInbox() } catch {
      // An absent inbox is claimed when it appears.
      if error.kind != .missing {
        claim.end()
        throw SpoolError(watchedAlready: settings.path, error)
      }
    }
    var former: String?
    // Under the claim, so that no other process serves it meanwhile. An absent inbox says nothing.
    if folders.inboxAbsence == nil {
      do throws(SpoolError) {
        former = try ServingStore.claim(
          settings.path, for: engine.store.inboxes, at: engine.storePath,
          isAdopting: settings.isAdopting)
      } catch {
        // A refused watch leaves nothing that looks like one.
        claim.end()
        if try !engine.store.inboxes.hasRecordings(ofInbox: settings.path) {
          _ = try engine.store.inboxes.forget(settings.path)
        }
        throw error
      }
    }
    let mail = mail
    let probe = engine.probe
    var rules = settings.rules
    rules.takesTranscripts = settings.pipeline.transcriptInput != nil
    let watcher = InboxWatcher(
      path: settings.path, rules: rules, isKnown: { processor.isKnown($0, $1) },
      absence: { folders.inboxAbsence }, examine: { probe.verdict($0.readingPath) },
      measure: { probe.facts(of: $0.readingPath)?.milliseconds },
      begun: { [former] in
        let text =
          "for \(settings.pipelineName)" + (former.map { ", which was at \($0) before" } ?? "")
        engine.record(WatchEvent(.watching, at: engine.clock.now, inbox: settings.path, text: text))
      }, report: { event in mail.send { $0.take(event) } })
    self.watcher = watcher
    thread = BackgroundThread(name: "inbox") { [claim, rules] in
      var handler = InboxEventHandler(
        processor: processor, watcher: watcher, folders: folders,
        deliveries: settings.pipeline.deliveries, engine: engine,
        holdPeriod: rules.sidecarLimit / .seconds(1), publish: { try? claim.record($0) },
        report: report)
      handler.begin()
      while true {
        for action in mail.receive(atMost: handler.wait) {
          action(&handler)
          if handler.isClosed { return }
        }
        handler.turn()
      }
    }
  }

  /// Schedules acknowledgements and releases.
  func settleUp() { mail.send { $0.owesMore() } }

  func note(settingsProblem: String?) {
    mail.send { $0.note(settingsProblem: settingsProblem) }
  }

  /// Checks again for every file in the inbox whether it is known.
  func recheck() { watcher.recheck() }

  /// Stops taking files in.
  func beginToClose() {
    stop.request(signal: 15)
    mail.send { $0.isTaking = false }
  }

  /// Ends both threads and releases the inbox. Blocks while one file is taken in that is read to its end
  /// already.
  func close() {
    stop.request(signal: 15)
    mail.send { $0.close() }
    thread.join()
    watcher.stop()
    claim.end()
  }

  /// Leaves both threads running until the program exits: one may wait for a disk that does not
  /// answer. Records that the watch was cut short.
  /// - Parameter report: its last one; nil before the first.
  func abandon(after report: InboxReport?) {
    mail.send { $0.close() }
    thread.letGo()
    let none = InboxReport.Group(count: 0, files: [])
    var report = report ?? InboxReport(waiting: none, refused: none, ignored: none)
    report.wasCutShort = true
    // Without it, the watch looks killed.
    if let text = try? report.jsonText() { try? claim.record(text) }
  }

  private static func claim(
    _ settings: InboxSettings, _ engine: WatchEngine
  ) throws(SpoolError) -> any WorkClaim {
    var hasher = SHA256()
    hasher.update("spool-inbox-1\n\(settings.path)\n")
    let answer = try engine.store.claim(
      hasher.finalize(), summary: InboxReport.claimSummary(ofInbox: settings.path))
    switch answer {
    case .granted(let claim): return claim
    case .taken(let owner):
      let number = owner.processNumber
      let who = number > 0 ? "process \(number)" : "another process"
      throw SpoolError(
        "the inbox \(settings.path) is watched already",
        reason: "\(who) watches it\(owner.isStopped ? ", and is stopped" : "")",
        advice: number > 0 ? "kill \(number) ends that watch" : "end that watch first",
        cause: .environment)
    }
  }
}

extension SpoolError {
  /// Another process has the inbox's folder, perhaps for another store.
  fileprivate init(watchedAlready path: String, _ error: SpoolError) {
    self.init(
      "the inbox \(path) is watched already", reason: error.reason, advice: error.advice,
      cause: .environment)
  }
}
