import Inbox
import PipelineModel
import Store

/// How everything in a store stands that is not done.
struct StoreStatus: Encodable {
  /// The notes that stand in one way.
  struct Group: Encodable {
    let state: String
    let count: Int
    /// When the one that has stood so longest began to, in seconds since 1970.
    let since: Double
  }

  /// A note that somebody should look at.
  struct Trouble: Encodable {
    let note: String
    let file: String
    let state: String
    let reason: String?
  }

  /// A run that did not come to its end.
  struct OpenRun: Encodable {
    let id: String
    let pipeline: String
    let state: String
    let startedAt: Double
    let failure: String?
    /// What works where nothing goes on with it, because its recording is gone; nil where it is not.
    let missing: String?

    /// The state in words.
    var standing: String { RunRecord.State(rawValue: state)?.words ?? state }
  }

  let notes: [Group]
  /// The last of those that failed, are quarantined, claim another one's identity without anybody's
  /// having decided, or may not be all that was recorded.
  let troubles: [Trouble]
  /// Commands of devices whose notes have not arrived.
  let waitingCommands: Group?
  /// When the next note is tried again by itself, in seconds since 1970.
  let nextAttempt: Double?
  /// Files that have yet to leave an inbox.
  let heldFiles: Int
  /// The inboxes that are watched, or have notes that wait for somebody to watch them.
  let inboxes: [InboxStatus]
  let runs: [OpenRun]
  /// The receipts that wait for a time stamp; nil where none does.
  let timeStamps: WaitingStamps?
  /// What to type.
  let next: [String]

  /// How many runs and waiting notes are looked at: those before are history.
  private static let runLimit = 1000
  /// How many notes of a kind are named.
  private static let troubleLimit = 5
  /// How long a doubt about a note is worth a word, in seconds.
  private static let doubtPeriod = 30.0 * 86_400

  /// - Parameter option: `--store` as it was typed, which what is to be typed next needs as well.
  init(
    _ bench: Workbench, _ store: DiskStore, named option: String?
  ) throws(Workbench.Refusal) {
    let tally: NoteTally
    let claimCommands: [String]
    do throws(StoreError) {
      tally = try store.tally(pipeline: nil)
      let known = try store.watchedInboxes()
      let waiting = try store.notes(
        NoteQuery(
          states: [.received, .processing, .failed], isCancelled: false, limit: Self.runLimit))
      let left = Set(waiting.map(\.inbox)).subtracting(known.map(\.path)).sorted()
      let lines = try store.lastWatches()
      inboxes =
        known.map {
          InboxStatus(
            $0, line: lines[$0.path],
            notTakenIn: NotTakenIn(inInbox: $0.path, report: $0.report, store: store),
            store: option)
        }
        + left.map {
          InboxStatus(
            unwatched: $0, line: lines[$0],
            notTakenIn: NotTakenIn(inInbox: $0, report: nil, store: store), store: option)
        }
      var named: [Trouble] = []
      for state in [NoteState.failed, .quarantined] {
        named += try store.notes(
          NoteQuery(states: [state], isCancelled: false, limit: Self.troubleLimit)
        )
        .map { Trouble($0, $0.state.rawValue, $0.reason) }
      }
      // What is tried once more failed before, and the note itself does not say why any longer.
      let again = try store.notes(
        NoteQuery(states: [.processing], isCancelled: false, limit: Self.troubleLimit)
      ).filter { $0.attempts > 1 }
      for note in again {
        let failure = try store.events(of: note.key).last { $0.state == .failed }?.reason
        named.append(
          Trouble(note, note.state.rawValue, failure.map { "tried again, for it failed: \($0)" }))
      }
      let claims = try store.openClaims(limit: Self.troubleLimit)
      named += claims.map { Trouble($0, "conflict", $0.reason) }
      claimCommands = claims.prefix(1).flatMap(\.nextCommands)
      let since = SystemClock().now - Self.doubtPeriod
      named += try store.doubtfulNotes(changedSince: since, limit: Self.troubleLimit)
        .map { Trouble($0, "doubtful", KeptFacts(of: $0).doubt) }
      troubles = named
      timeStamps = WaitingStamps(try store.awaitedStamps())
    } catch {
      throw Workbench.Refusal(
        text: ErrorText(StageError(error)).render(bench.console), code: .failed)
    }
    notes =
      NoteState.allCases.compactMap { state in
        tally.counts[state].map {
          Group(state: state.rawValue, count: $0.count, since: $0.since)
        }
      }
      + (tally.cancelled.map { [Group(state: "cancelled", count: $0.count, since: $0.since)] }
        ?? [])
    waitingCommands = tally.waitingCommands.map {
      Group(state: "waiting", count: $0.count, since: $0.since)
    }
    nextAttempt = tally.nextAttempt
    heldFiles = tally.heldFiles
    let all = try bench.runs(limit: Self.runLimit, in: store)
    let open = RunRecord.unsettled(in: all)
    // What a watch began, it goes on with by itself.
    let own = open.filter { run in !run.inputs.values.contains { $0.hasPrefix(store.path + "/") } }
    let openRuns = own.map { run in
      let missing =
        run.wayOn == nil ? nil : MissingRecording(of: run, beside: all, store: option)?.line
      return OpenRun(
        id: run.id.name, pipeline: run.pipeline, state: run.state.rawValue,
        startedAt: run.startedAt, failure: run.failure, missing: missing)
    }
    runs = openRuns
    let wayOn = own.indices.first { own[$0].wayOn != nil && openRuns[$0].missing == nil }
      .flatMap { own[$0].wayOn }
    let commands =
      tally.nextCommands + claimCommands + (timeStamps == nil ? [] : [StampCommand.line(nil)])
      + (wayOn.map { [$0] } ?? [])
    next = commands.map { StoreOption(option).completing($0) }
  }

  /// For people; `now` is in seconds since 1970.
  func text(at now: Double) -> String {
    var lines = notes.map { group in
      let head = Format.padLeft("\(group.count)", 7)
      let words = Self.words(group.state)
      // Of these, nothing is wanted of anybody.
      if [NoteState.uploaded.rawValue, "cancelled"].contains(group.state) {
        return "\(head)  \(words)"
      }
      return "\(head)  \(Format.pad(words, 18))since \(Format.time(group.since)), "
        + Self.ago(now - group.since)
    }
    lines += troubles.map { trouble in
      Format.visible(
        "  \(trouble.state)  \(trouble.note)  \(trouble.file)"
          + (trouble.reason.map { ": \($0)" } ?? ""))
    }
    // An inbox that is watched says itself what there is in it.
    if notes.isEmpty, inboxes.isEmpty {
      lines.append("no notes yet: spool watch PIPELINE INBOX takes them in")
    }
    if let nextAttempt {
      lines.append(
        nextAttempt > now
          ? "next attempt in \(Format.duration(nextAttempt - now))" : "the next attempt is due")
    }
    if let waitingCommands {
      let count = waitingCommands.count
      lines.append(
        "\(count) command\(count == 1 ? " waits" : "s wait") for a note that has not arrived, since "
          + Format.time(waitingCommands.since))
    }
    if heldFiles > 0 {
      lines.append("\(heldFiles) file\(heldFiles == 1 ? "" : "s") yet to leave an inbox")
    }
    lines += inboxes.flatMap(\.lines)
    for run in runs.prefix(10) {
      lines.append(
        "run \(run.id)  \(run.standing)  \(run.pipeline)  since \(Format.time(run.startedAt))"
          + (run.failure.map { ": \(Format.visible($0))" } ?? ""))
      if let missing = run.missing { lines.append("  " + Format.visible(missing)) }
    }
    if runs.count > 10 { lines.append("and \(runs.count - 10) more: spool runs") }
    lines += timeStamps?.lines(at: now) ?? []
    lines += next.map { "next:  \($0)" }
    return lines.joined(separator: "\n")
  }

  private static func words(_ state: String) -> String {
    switch NoteState(rawValue: state) {
    case .received: "waiting"
    case nil: state
    case let state?: state.rawValue
    }
  }

  /// `for 2 h 10 min`.
  private static func ago(_ seconds: Double) -> String {
    seconds < 1 ? "just now" : "for \(Format.duration(seconds))"
  }
}

extension StoreStatus.Trouble {
  fileprivate init(_ note: Note, _ state: String, _ reason: String?) {
    self.note = note.key.name
    file = note.fileName
    self.state = state
    self.reason = reason
  }
}
