import Delivery
import Intake
import PipelineEngine
import PipelineModel
import Platform
import Receipts
import SoundEngine
import Stages
import Store
import Synchronization

/// Executing a checked plan, for `spool run` and `spool resume`.
extension CommandContext {
  /// The form of the output.
  enum Voice {
    /// One JSON object an event.
    case json
    /// Errors only.
    case quiet
    /// Progress and summary as text.
    case full
  }

  var voice: Voice { isJSON ? .json : isQuiet ? .quiet : .full }

  /// Runs the plan to its end, or to a clean point after a signal.
  /// - Parameter makeRecord: makes the record of a run that starts now under the given name.
  func start(
    _ plan: Plan, _ request: RunRequest, in store: DiskStore,
    _ makeRecord: (RunID, _ startedAt: Double) -> RunRecord
  ) throws(SpoolError) -> ExitCode {
    let receiptWriter = receiptWriter(for: store)
    // The passphrase is asked for before a progress board is drawn.
    if plan.receiptStep != nil { try receiptWriter.unlock() }
    let clock = SystemClock()
    let record = makeRecord(clock.makeRunID(), clock.now)
    let delivery = try delivery(for: plan, in: store)
    let options =
      (arguments[Options.store].map { ["--store", ResolvedPath.asTyped($0)] } ?? [])
      + (delivery == nil ? [] : destinationsOption)
    let resumeCommand = ShellWords.line(
      ["spool", "resume", record.id.description] + options + (request.signing?.options ?? []))
    let farewell = "stopped: what was noted is kept, and \(resumeCommand) goes on from there"
    let stop = console.heed(
      SignalWatch.begin(clock) { [console] in console.lastWord(farewell) })
    let runner = runner(
      in: store, recorder(of: plan, store, clock), clock, stop, receiptWriter: receiptWriter,
      delivery: delivery)
    var settings = Runner.Options(request)
    settings.makesFolder = true
    settings.ignoresRoom = arguments[Options.ignoreRoom]
    settings.isResuming = record.resumes != nil
    settings.resumeCommand = resumeCommand
    settings.isEstimated = voice != .quiet
    for (input, path) in plan.receiptStep == nil ? [:] : record.inputs {
      settings.origins[input] = try store.origin(ofFileAt: ResolvedPath.of(path))
    }
    do throws(RunError) {
      _ = try runner.run(plan, settings, record: record)
      if delivery != nil {
        let writer = confirmationWriter(
          for: store, besides: plan.receiptStep == nil ? nil : receiptWriter)
        sendLast(.of(.run(record.id)), in: store, signing: writer, clock, stop: stop)
      }
      askForLastStamps(in: store, clock, stop: stop)
      collectIfDue(in: store) { stop.isRequested }
      return .done
    } catch {
      if error.error.cause == .cancelled, let signal = stop.signalNumber {
        console.report(farewell)
        return .interrupted(by: signal)
      }
      if isJSON { console.print(json: JSONLine(error)) }
      let failure = SpoolError(error).remedied(by: error, of: record, options)
      console.report(
        (record.resumes == nil ? failure : failure.resumed(record, options)).text(console))
      return .failed
    }
  }

  private func recorder(
    of plan: Plan, _ store: DiskStore, _ clock: SystemClock
  ) -> any RunRecorder {
    switch voice {
    case .json: return JSONRecorder(console)
    case .quiet: return SilentRecorder(console)
    case .full:
      let recorder = TerminalRecorder(plan, clock: clock, console: console)
      // Messages of the store must not be printed into the board.
      store.listen { recorder.tell("note: \(Format.visible($0))") }
      return recorder
    }
  }
}

/// Shows a run as text: on a terminal one live line a step, elsewhere a plain line for each
/// finished step.
final class TerminalRecorder: RunRecorder {
  private let console: Console
  private let clock: SystemClock
  private let state: Mutex<State>

  private struct State {
    var board: StepBoard
    var lines: LiveLines
    var news = InterimEvent()
    var estimate: WorkEstimate?
  }

  init(_ plan: Plan, clock: SystemClock, console: Console) {
    self.console = console
    self.clock = clock
    state = Mutex(
      State(board: StepBoard(plan, now: clock.elapsed), lines: LiveLines(console, interval: 0.1)))
  }

  func record(_ event: RunEvent) {
    let now = clock.elapsed
    state.withLock { state in
      state.board.take(event, now: now)
      if case .estimated(let estimate) = event {
        if state.estimate == nil { Self.line(estimate).map(console.print) }
        state.estimate = estimate
      }
      state.estimate?.take(event, now: now)
      show(
        event, state.board, &state.lines, left: state.estimate?.seconds(at: now),
        news: state.news.take(event), now: now)
    }
  }

  /// The least estimate to announce, in seconds: a shorter wait needs no announcement.
  private static let toldSeconds = 2.0

  /// The time that it takes, as text; nil for a short run.
  private static func line(_ estimate: WorkEstimate) -> String? {
    estimate.seconds < toldSeconds ? nil : Format.estimate(estimate)
  }

  /// Prints a line above the board.
  func tell(_ line: String) {
    state.withLock { state in
      state.lines.erase()
      console.report(line)
    }
  }

  private func show(
    _ event: RunEvent, _ board: StepBoard, _ lines: inout LiveLines, left: Double?, news: String?,
    now: Double
  ) {
    func draw() {
      let rest = left.flatMap {
        $0 < Self.toldSeconds ? nil : "  about \(Format.duration($0)) left"
      }
      lines.draw(
        board.lines(now: now, width: console.width) + [rest].compactMap(\.self), now: now)
    }
    switch event {
    case .started(let run):
      let files = Format.visible(run.inputPaths.joined(separator: ", "))
      console.print("\(console.bold(run.pipeline))  \(files)\n" + (news.map { "\($0)\n" } ?? ""))
    case .hashing(let path, let done, let total):
      guard lines.isDue(now) else { return }
      lines.draw(["  " + Format.hashing(path, done, of: total)], now: now)
      return
    case .warning(let step, let text):
      lines.erase()
      console.report("warning: \(step): \(Format.visible(text))")
    case .retrying(let step, let error, let delay):
      lines.erase()
      console.report(
        "\(step?.name ?? "run"): \(Format.visible(error.message)); again in "
          + Format.duration(delay))
    case .ended(let run):
      draw()
      if run.state == .done {
        console.print(console.completed(RunSummary(run).lines.joined(separator: "\n")))
      } else if run.published.contains(where: { !$0.wasThere }) {
        console.print(RunSummary(run).filesLeft.joined(separator: "\n"))
      }
      return
    default:
      guard let news else { break }
      lines.erase()
      console.print(news)
    }
    if console.isTerminal {
      if lines.isDue(now) { draw() }
    } else if let line = board.plainLine(for: event, now: now) {
      console.print(line)
    }
  }

}

/// Messages between steps: waiting for another process, and where work resumes. A pure value.
struct InterimEvent {
  private var mediaSeconds: Double?
  private var reusedCount = 0
  private var lastWait: String?

  /// Updates the state; returns a line to print, if any. Waiting for the same process is reported
  /// once.
  mutating func take(_ event: RunEvent) -> String? {
    switch event {
    case .started(let run):
      mediaSeconds = run.mediaSeconds
      return run.resumes.map { "goes on with run \($0)" }
    case .reused: reusedCount += 1
    case .passStarted(_, _, let seconds):
      mediaSeconds = seconds ?? mediaSeconds
      lastWait = nil
    case .waiting(let number, let isStopped):
      let line = Self.wait(number, isStopped)
      guard line != lastWait else { return nil }
      lastWait = line
      return line
    case .resumed(let steps, let at, let total, let lost):
      lastWait = nil
      return resumption(of: steps, at: at, of: total ?? mediaSeconds, lost: lost)
    case .beganAnew(let steps, let loss, let lost):
      lastWait = nil
      let names = steps.map(\.name).joined(separator: ", ")
      return "Beginning anew with \(names): "
        + (reusedCount > 0 ? "\(Count.of(reusedCount, "stage")) reused, " : "")
        + Self.cause(loss) + (lost.map { ", \(Self.loss($0))" } ?? "")
    case .dropped(let step, let part, let at):
      let wayOn = at > 0 ? "goes on with it at \(Format.position(at))" : "begins anew with it"
      return "The \(part) of \(step) was damaged: \(step) \(wayOn)"
    default: break
    }
    return nil
  }

  private static func wait(_ number: Int, _ isStopped: Bool) -> String {
    let who = number > 0 ? "process \(number)" : "another process"
    guard isStopped else { return "Waiting for \(who), which does the same work" }
    let way = number > 0 ? "; kill -CONT \(number) lets it go on" : ""
    return "Waiting for \(who), which does the same work and is stopped\(way)"
  }

  /// Why work starts over.
  private static func cause(_ loss: ResumeLoss) -> String {
    let run = loss.run.map { "run \($0)" }
    switch loss.cause {
    case .notesLost:
      return
        "of what \(run ?? "an earlier run") had begun, nothing was noted yet, or no notes are left"
    case .damaged: return "\(loss.part ?? "what was there of it") was damaged"
    case .recordingChanged:
      return "\(Format.visible(loss.part ?? "the recording")) has changed since "
        + "\(run ?? "an earlier run"), and nothing of that is used"
    case .pluginChanged:
      return "\(Format.visible(loss.part ?? "a plugin has changed")), and nothing that "
        + "\(run ?? "an earlier run") had begun with it is used"
    case .takenOver:
      let process = loss.processNumber.map { "process \($0)" } ?? "another process"
      return "taken over from \(process)\(run.map { " of \($0)" } ?? ""), which is stopped"
    }
  }

  private static func loss(_ seconds: Double) -> String {
    seconds < 0.05
      ? "no work lost" : "about \(Format.decimal(seconds, places: 1)) s of work lost"
  }

  /// `Going on with eq, export at 7:12 of 10:00: 3 stages reused, about 1.3 s of work lost`.
  private func resumption(
    of steps: [StepID], at: Double, of total: Double?, lost: Double
  ) -> String {
    var facts: [String] = []
    if reusedCount > 0 { facts.append("\(Count.of(reusedCount, "stage")) reused") }
    facts.append(Self.loss(lost))
    let names = steps.map(\.name).joined(separator: ", ")
    let place = Format.position(at) + (total.map { " of \(Format.position($0))" } ?? "")
    return "Going on with \(names) at \(place): \(facts.joined(separator: ", "))"
  }
}

/// The state of a run's steps as lines of text. A pure value.
struct StepBoard {
  private enum State {
    case waiting
    case working(done: Double, total: Double?, since: Double, from: Double)
    case made(seconds: Double, media: Double?)
    case reused
    /// Done before, and worked through once more for the sound.
    case again
    case skipped
    case failed
  }

  private let steps: [(id: StepID, kind: String)]
  private var states: [StepID: State] = [:]
  /// Where the steps of an unfinished pass resume, in seconds of the recording.
  private var positions: [StepID: Double] = [:]
  /// Steps whose length in seconds is unknown: they may report a share of their work.
  private var unmeasured: Set<StepID> = []
  private let nameWidth: Int

  init(_ plan: Plan, now: Double) {
    steps = plan.steps.map { ($0.id, $0.descriptor.kind) } + plan.skipped.map { ($0.id, $0.kind) }
    nameWidth = (steps.map(\.id.name.count).max() ?? 0) + 2
  }

  mutating func take(_ event: RunEvent, now: Double) {
    switch event {
    case .reused(let id, _): states[id] = .reused
    case .skipped(let step): states[step.id] = .skipped
    case .passStarted(let ids, let replayed, let seconds):
      for id in replayed { if case .reused = states[id] { states[id] = .again } }
      if seconds == nil { unmeasured.formUnion(ids) } else { unmeasured.subtract(ids) }
      begin(ids, now: now)
    case .resumed(let ids, let at, _, _):
      for id in ids { positions[id] = at }
      begin(ids, now: now)
    case .progress(let id, let done, let total):
      guard case .working(_, let known, let since, let from) = states[id] else { return }
      states[id] = .working(done: done, total: total ?? known, since: since, from: from)
    case .finished(let record):
      if case .working(let done, let total, let since, let from) = states[record.id] {
        let media = isShare(record.id, total) ? 0 : done - from
        // The time inside the stage: all stages of a pass end together.
        states[record.id] = .made(
          seconds: record.workSeconds ?? now - since, media: media >= 0.1 ? media : nil)
      } else {
        states[record.id] = .made(seconds: record.workSeconds ?? 0, media: nil)
      }
    case .ended(let run):
      for step in run.steps where step.outcome == .failed { states[step.id] = .failed }
    default: break
    }
  }

  /// Whether a step reports a share of its work, which has no real-time factor.
  private func isShare(_ id: StepID, _ total: Double?) -> Bool {
    total == 1 && unmeasured.contains(id)
  }

  private mutating func begin(_ ids: [StepID], now: Double) {
    for id in ids {
      let from = positions[id] ?? 0
      states[id] = .working(done: from, total: nil, since: now, from: from)
    }
  }

  func lines(now: Double, width: Int) -> [String] {
    steps.map { line($0.id, now: now, width: width) }
  }

  /// The line for an event if nothing can be redrawn.
  func plainLine(for event: RunEvent, now: Double) -> String? {
    let id: StepID
    switch event {
    case .passStarted(_, let replayed, _):
      let lines = replayed.compactMap { id in
        if case .again = states[id] { line(id, now: now) } else { String?.none }
      }
      return lines.isEmpty ? nil : lines.joined(separator: "\n")
    case .finished(let record): id = record.id
    case .reused(let step, _): id = step
    case .skipped(let step):
      return "  \(Format.pad(step.id.name, nameWidth))skipped: \(step.reason)"
    default: return nil
    }
    return line(id, now: now)
  }

  private func line(_ id: StepID, now: Double, width: Int = 0) -> String {
    "  \(Format.pad(id.name, nameWidth))\(text(id, now: now, width: width))"
  }

  private func text(_ id: StepID, now: Double, width: Int) -> String {
    switch states[id] ?? .waiting {
    case .waiting: return "·"
    case .reused: return "reused"
    case .again: return "again: its sound was not kept"
    case .skipped: return "skipped"
    case .failed: return "failed"
    case .made(let seconds, let media):
      let speed = media.map { Format.padLeft(Format.speed(media: $0, wall: seconds), 20) } ?? ""
      return "done" + Format.padLeft(Format.duration(seconds), 12) + speed
    case .working(let done, let total, let since, let from):
      let wall = now - since
      guard done > from, wall > 0 else { return "begins" }
      let speed =
        isShare(id, total)
        ? "" : Format.padLeft(Format.speed(media: done - from, wall: wall), 20)
      guard let total, total > 0 else { return Format.duration(done) + speed }
      let fraction = min(done / total, 1)
      let left = wall * max(total - done, 0) / (done - from)
      let cells = min(24, max(8, width - nameWidth - 50))
      return Format.bar(fraction, width: cells) + Format.padLeft("\(Int(fraction * 100)) %", 6)
        + speed + (fraction < 1 ? "   \(Format.duration(left)) left" : "")
    }
  }
}
