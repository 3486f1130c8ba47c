import Delivery
import Intake
import PipelineModel
import Platform
import Receipts
import Store

extension Command {
  /// `spool status`: what waits, runs, failed and is quarantined, since when, and what to type.
  static let status = Command(
    name: "status", group: "Work",
    summary: "Say what needs action, and what waits and runs.",
    discussion: """
      Counts the recordings of all inboxes by how they stand, with how long the oldest has stood so, and \
      names runs that did not come to their end, recordings that claim another one's identity until \
      somebody has decided, inboxes that pause because their results have nowhere to go, how many \
      receipts wait for a time stamp, what destinations have yet to get, how many recordings have a \
      single copy, and whether records were lost with the database. The lines behind "next:" can be typed as they are, the most \
      important first. spool resume is among them only where another attempt can succeed.

      No recording is read: a damaged original is named where spool store check or spool inbox show found \
      it.

      A failed run is named for 30 days, until the same recording, pipeline and output folder succeed \
      or spool runs forget --failed clears it. A start that was refused before any work is never named.

      With --check the exit code is 1 if something needs action: an inbox that was watched and that no process \
      watches now, however its watch ended, until spool inbox forget takes it off the list; a recording \
      that failed, is quarantined, conflicts with another one or whose original is lost or was found damaged; an \
      inbox whose folder is not there, that pauses or whose acknowledgements cannot be written; or a run that \
      failed or was cut off, stopped or paused; a file that a destination cannot get; or records that were \
      lost with the database, until spool store repair accepts the loss. Else it is 0.
      """,
    options: [Options.check, Options.store, Options.json],
    perform: CommandContext.showStatus)
}

extension Options {
  fileprivate static let check = Option<Bool>.flag(
    "check", help: "Exit with 1 if something needs action.")
}

extension CommandContext {
  fileprivate func showStatus() throws(SpoolError) -> ExitCode {
    let status = try StoreStatus(self, existingStore(), named: namedStore)
    answer(status, status.text(at: SystemClock().now))
    return arguments[Options.check] && status.needsAction ? .failed : .done
  }
}

/// Everything unfinished in a store.
struct StoreStatus: Encodable {
  /// The recordings in one state.
  struct Group: Encodable {
    let state: String
    let count: Int
    /// When the longest-waiting one entered the state.
    let since: DateTime

    fileprivate init(_ state: String, _ tally: RecordingTally.Count) {
      self.init(state, tally.count, since: tally.since)
    }

    fileprivate init(_ state: String, _ count: Int, since: Double) {
      (self.state, self.count) = (state, count)
      self.since = DateTime(secondsSince1970: since)
    }
  }

  /// A recording that needs attention.
  struct Trouble: Encodable {
    let recording: String
    let file: String
    let exactFile: String?
    let state: String
    let reason: String?

    private enum CodingKeys: String, CodingKey {
      case recording = "note", file, exactFile, state, reason
    }

    fileprivate init(_ recording: Recording, _ state: String, _ reason: String?) {
      (self.recording, file) = (recording.key.name, recording.fileName)
      exactFile = recording.exactFileName
      (self.state, self.reason) = (state, reason)
    }
  }

  /// An unfinished run.
  struct OpenRun: Encodable {
    let id: String
    let pipeline: String
    let state: String
    let startedAt: DateTime
    let failure: String?
    /// What can be done about a failure that resuming does not mend; nil if that is not known.
    let advice: String?
    /// Advice if it cannot continue because its recording is missing; nil otherwise.
    let missing: String?

    var status: String { RunRecord.State(rawValue: state)?.words ?? state }
  }

  let recordings: [Group]
  /// All recordings that failed, are quarantined, claim another's identity without a decision, may be
  /// incomplete, or whose original is lost or damaged; of each kind the latest first.
  let troubles: [Trouble]
  /// Commands of devices for recordings that have not arrived.
  let waitingCommands: Group?
  /// When the next recording is retried.
  let nextAttempt: DateTime?
  /// Files that still have to be removed from an inbox.
  let heldFiles: Int
  /// The inboxes that are or were watched, or have waiting recordings.
  let inboxes: [InboxStatusText]
  let runs: [OpenRun]
  /// Receipts that wait for a time stamp; nil if none.
  let timeStamps: WaitingStamps?
  /// What destinations have yet to get, by destination.
  let deliveries: [WaitingDeliveries]
  /// Recordings that no second place has; nil if there are none.
  let singleCopies: SingleCopies?
  /// What a check says of records that were lost with the database; nil if none were.
  let lostRecords: String?
  private let isSending: Bool
  /// Whether something waits for the user, and does not go on by itself.
  let needsAction: Bool
  /// The commands of all that can be done, the most important first.
  let next: [String]
  /// What a store without anything unfinished says.
  private let calm: String

  private enum CodingKeys: String, CodingKey {
    case recordings = "notes", troubles, waitingCommands, nextAttempt, heldFiles, inboxes, runs
    case timeStamps, deliveries, singleCopies, lostRecords, needsAction, next
  }

  /// Maximum number of recordings examined.
  private static let runLimit = 1000
  /// How many recordings of each kind the text names.
  private static let shownTroubles = 5
  /// How long an uncertainty about a recording is reported, in seconds.
  private static let doubtPeriod = 30.0 * 86_400
  /// How long a failed run is reported, in seconds.
  private static let failurePeriod = 30.0 * 86_400
  /// How many commands are printed.
  private static let shownCommands = 10

  /// - Parameter option: `--store` as typed, for suggested commands.
  init(_ context: CommandContext, _ store: DiskStore, named option: String?) throws(SpoolError) {
    let tally = try store.recordings.tally(pipeline: nil)
    let known = try store.inboxes.watchedInboxes()
    let waiting = try store.recordings.matching(
      RecordingQuery(
        states: [.received, .processing, .failed], isCancelled: false, limit: Self.runLimit))
    let left = Set(waiting.map(\.inbox)).subtracting(known.map(\.path)).sorted()
    let lasting = CommandContext.lastingOption(context.named(Options.store))
    let lines = try store.inboxes.lastWatches().mapValues {
      WatchOrder.line($0, forStoreAt: ResolvedPath.of(store.path), option: lasting)
    }
    let watched = known.map { ($0.path, Optional($0)) } + left.map { ($0, nil) }
    let listed = Set(watched.map(\.0))
    // A watch that was stopped in order is missed too: only its owner knows whether it is to go on, and
    // can have the inbox forgotten.
    let unwatched = lines.keys.filter { !listed.contains($0) }.sorted()
    inboxes = (watched + unwatched.map { ($0, nil) }).map { path, inbox in
      InboxStatusText(
        path, inbox, line: lines[path],
        notTakenIn: InboxStatusText.NotTakenIn(inInbox: path, report: inbox?.report, store: store),
        refused: InboxStatusText.refused(by: inbox, in: store),
        pending: waiting.count { $0.inbox == path }, store: option)
    }
    func all(_ state: RecordingState) throws(SpoolError) -> [Recording] {
      try store.recordings.matching(
        RecordingQuery(states: [state], isCancelled: false, limit: .max))
    }
    // Nothing is to be decided about a cut-off version whose recording is done.
    let quarantined = try all(.quarantined).filter { !tally.completed.contains($0.key) }
    var named = try (all(.failed) + quarantined).map { Trouble($0, $0.state.rawValue, $0.reason) }
    // A recording in its second attempt no longer states the earlier failure itself.
    let again = try all(.processing).filter { $0.attempts > 1 }
    for recording in again {
      let failure = try store.recordings.events(of: recording.key).last { $0.state == .failed }?
        .reason
      named.append(
        Trouble(
          recording, recording.state.rawValue, failure.map { "tried again, for it failed: \($0)" }
        ))
    }
    let claims = try store.recordings.openClaims(limit: .max)
    named += claims.map { Trouble($0, "conflict", $0.reason) }
    let claimCommands = claims.flatMap(\.nextCommands)
    let since = SystemClock().now - Self.doubtPeriod
    named += try store.recordings.doubtful(changedSince: since, limit: .max)
      .map { Trouble($0, "doubtful", StoredFacts(of: $0).doubt) }
    let lost = try store.lostOriginals()
    let holders = lost.isEmpty ? [:] : try store.deliveries.confirmedOriginals()
    named += lost.map {
      let hope = InspectionFinding.lostOriginal(
        of: $0.key, confirmedBy: holders[$0.content.digest]?.first)
      return Trouble($0, "lost", "its original is not in the store any more; \(hope)")
    }
    let damaged = try store.damagedOriginals()
    named += damaged.map {
      Trouble(
        $0.recording, "damaged",
        "its original in the store is damaged, as was found at \(Format.time($0.foundAt)); "
          + InspectionFinding.lostOriginal)
    }
    troubles = named
    timeStamps = WaitingStamps(try store.stamps.awaited())
    // A mistake in the file of destinations is for the commands that use it.
    let destinations = (try? context.destinations())?.all ?? []
    deliveries = try WaitingDeliveries.all(
      in: store.deliveries, context.destinations(ofWaiting: store))
    // A store that is only readable does not say it.
    let isSent = try? store.deliveries.isSending()
    isSending = isSent ?? true
    let outside = try store.originalsOutside().count
    singleCopies = try SingleCopies(
      store.deliveries.singleCopies(besides: lost.map(\.key)), outside, destinations.map(\.name))
    let loss = try store.lostRecords()
    lostRecords = loss.map {
      FindingList.completed("\($0.problem); \($0.meaning)", StoreOption(option))
    }
    recordings =
      RecordingState.allCases.compactMap { state in
        state == .quarantined
          ? quarantined.map(\.stateSince).min().map {
            Group(state.rawValue, quarantined.count, since: $0)
          } : tally.counts[state].map { Group(state.rawValue, $0) }
      }
      + (tally.cancelled.map { [Group("cancelled", $0)] } ?? [])
    waitingCommands = tally.waitingCommands.map { Group("waiting", $0) }
    nextAttempt = tally.nextAttempt.map(DateTime.init(secondsSince1970:))
    heldFiles = tally.heldFiles
    let open = try store.runs.open(failedSince: SystemClock().now - Self.failurePeriod)
    // A watch resumes its own runs.
    let own = open.filter { !store.isOfInbox($0) }
    let openRuns = own.map { run in
      let missing =
        run.wayOn == nil ? nil : MissingRecording(of: run, in: store, option: option)?.line
      return OpenRun(
        id: run.id.name, pipeline: run.pipeline, state: run.state.rawValue,
        startedAt: DateTime(secondsSince1970: run.startedAt), failure: run.failure,
        advice: run.isResumable && run.state != .failed
          ? nil : Self.advice(for: run, store: option), missing: missing)
    }
    runs = openRuns
    let watching = inboxes.compactMap(\.wayOn)
    let stopped = own.indices.filter { own[$0].state != .running }
    let resumable = stopped.filter { openRuns[$0].missing == nil && own[$0].wayOn != nil }
    // One command continues all files of a batch.
    let resuming = resumable.compactMap { own[$0].batch?.command == nil ? own[$0].wayOn : nil }
    let batches = resumable.compactMap { own[$0].batch?.command }.map {
      $0.contains(" --store ") ? $0 : StoreOption(option).completing($0)
    }
    let dropping = stopped.compactMap { index in
      openRuns[index].missing == nil ? nil : "spool runs forget \(own[index].id)"
    }
    needsAction =
      inboxes.contains { $0.isUnwatched || $0.isMissing || $0.isPaused || $0.hasProblems }
      || !tally.nextCommands.isEmpty
      || !claims.isEmpty || !stopped.isEmpty || !lost.isEmpty || !damaged.isEmpty
      || deliveries.contains { $0.failed > 0 } || loss != nil
    // Resuming does not mend every failure: this clears those that are of no use.
    let hasFailed = stopped.contains { own[$0].state == .failed }
    let forgetting = hasFailed ? ["\(command: .forgetRuns) --failed"] : []
    let attention =
      inboxes.compactMap(\.forgetting) + tally.nextCommands
      + (damaged.isEmpty ? [] : ["\(command: .repair)"])
      + InspectionFinding.commands(for: lost, confirmedBy: holders)
      + claimCommands
    let others =
      resuming + dropping + forgetting
      + (timeStamps == nil ? [] : [CommandContext.stampCommand(nil)])
      + WaitingDeliveries.commands(
        deliveries, isSending: isSent == true || known.contains { $0.processNumber != nil },
        try context.sendingCommands(in: store))
    calm = try Self.calm(store, isAnyInboxKnown: !lines.isEmpty || !known.isEmpty)
    var told: Set<String> = []
    // The line of a watch or a batch names its store itself.
    let usual = StoreOption(option)
    next =
      ((loss == nil ? [] : [usual.completing("\(command: .check)")]) + watching
      + attention.map(usual.completing) + batches + others.map(usual.completing))
      .filter { told.insert($0).inserted }
  }

  /// What can be done about a failure that resuming does not mend by itself.
  private static func advice(for run: RunRecord, store option: String?) -> String? {
    let resuming = StoreOption(option).completing("spool resume \(run.id)")
    return run.advice(
      to: "move what is in the way elsewhere, and \(resuming) goes on", behind: run.failureAdvice,
      StoreOption(option).words) ?? run.failureAdvice
  }

  /// What a store says in which nothing is unfinished.
  private static func calm(
    _ store: DiskStore, isAnyInboxKnown: Bool
  ) throws(SpoolError) -> String {
    if let run = try store.runs.last() {
      let files = run.inputPaths.map { $0.pathNames.last ?? "" }
      return "nothing needs action; the last run is \(run.id), \(run.status): "
        + Format.visible("\(run.pipeline) on \(files.joined(separator: ", "))")
    }
    if isAnyInboxKnown { return "no recordings yet" }
    return "nothing was run and nothing was taken in yet: spool run PIPELINE INPUT runs a "
      + "pipeline, and spool watch PIPELINE INBOX takes in what arrives in a folder"
  }

  func text(at now: Double) -> String {
    var lines = recordings.map { group in
      let head = Format.padLeft("\(group.count)", 7)
      let words = Self.words(group.state)
      // These need no action.
      if [RecordingState.uploaded.rawValue, "cancelled"].contains(group.state) {
        return "\(head)  \(words)"
      }
      return "\(head)  \(Format.pad(words, 18))since \(Format.time(group.since)), "
        + Self.ago(now - group.since.seconds)
    }
    var shown: [String: Int] = [:]
    for (index, trouble) in troubles.enumerated() {
      shown[trouble.state, default: 0] += 1
      let number = shown[trouble.state] ?? 0
      if number <= Self.shownTroubles {
        lines.append(
          Format.visible(
            "  \(trouble.state)  \(trouble.recording)  \(trouble.file)"
              + (trouble.reason.map { ": \($0)" } ?? "")))
      } else if !troubles[(index + 1)...].contains(where: { $0.state == trouble.state }) {
        lines.append(
          "  \(trouble.state)  and \(number - Self.shownTroubles) more: spool status --json names them"
        )
      }
    }
    if let lostRecords { lines.append(Format.visible(lostRecords)) }
    // A watched inbox reports its own content.
    if recordings.isEmpty, inboxes.isEmpty, runs.isEmpty, !needsAction { lines.append(calm) }
    if let nextAttempt = nextAttempt?.seconds {
      lines.append(
        nextAttempt > now
          ? "next attempt in \(Format.duration(nextAttempt - now))" : "the next attempt is due")
    }
    if let waitingCommands {
      let count = waitingCommands.count
      lines.append(
        "\(count) command\(count == 1 ? " waits" : "s wait") for a recording that has not arrived, since "
          + Format.time(waitingCommands.since))
    }
    if heldFiles > 0 {
      lines.append("\(heldFiles) file\(heldFiles == 1 ? "" : "s") yet to leave an inbox")
    }
    lines += inboxes.flatMap(\.lines)
    for run in runs.prefix(10) {
      lines.append(
        "run \(run.id)  \(run.status)  \(run.pipeline)  since \(Format.time(run.startedAt))"
          + (run.failure.map { ": \(Format.visible($0))" } ?? ""))
      if let advice = run.missing ?? run.advice { lines.append("  " + Format.visible(advice)) }
    }
    if runs.count > 10 { lines.append("and \(runs.count - 10) more: spool runs") }
    lines += timeStamps?.lines(at: now) ?? []
    lines += deliveries.flatMap { $0.lines(at: now, isSending: isSending) }
    lines += singleCopies?.lines ?? []
    lines += next.prefix(Self.shownCommands).compactMap { NextCommand($0)?.text }
    if next.count > Self.shownCommands {
      lines.append("       and \(next.count - Self.shownCommands) more: spool status --json")
    }
    return lines.joined(separator: "\n")
  }

  private static func words(_ state: String) -> String {
    switch RecordingState(rawValue: state) {
    case .received: "waiting"
    case nil: state
    case let state?: state.rawValue
    }
  }

  private static func ago(_ seconds: Double) -> String {
    seconds < 1 ? "just now" : "for \(Format.duration(seconds))"
  }
}
