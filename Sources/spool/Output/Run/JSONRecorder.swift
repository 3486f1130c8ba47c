import FoundationEssentials
import PipelineEngine
import PipelineModel
import Platform

/// Writes one JSON object for each event.
struct JSONRecorder: RunRecorder {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func record(_ event: RunEvent) {
    console.print(JSONText.of(EventLine(event)))
  }
}

/// Prints only warnings.
struct SilentRecorder: RunRecorder {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func record(_ event: RunEvent) {
    if case .warning(let step, let text) = event {
      console.report("warning: \(step): \(Format.visible(text))")
    }
  }
}

/// Encodes values as one line of JSON with sorted keys.
enum JSONText {
  static func of(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}

/// An event as `--json` shows it: `event` names it, and the other members depend on it.
private struct EventLine: Encodable {
  private var event = ""
  private var step: String?
  private var kind: String?
  private var steps: [String]?
  private var replayed: [String]?
  private var done: Double?
  private var total: Double?
  private var seconds: Double?
  private var message: String?
  private var result: StepRecord?
  private var file: PublishedFile?
  private var run: RunLine?
  private var findings: JSONValue?
  private var atSeconds: Double?
  private var ofSeconds: Double?
  private var lostSeconds: Double?
  private var earlier: RunID?
  private var cause: ResumeLoss.Cause?
  private var part: String?
  private var processNumber: Int?
  private var isStopped: Bool?

  init(_ event: RunEvent) {
    switch event {
    case .started(let record):
      self.event = "started"
      run = RunLine(record)
    case .reused(let id, let kind):
      self.event = "reused"
      step = id.name
      self.kind = kind
    case .skipped(let skipped):
      self.event = "skipped"
      step = skipped.id.name
      kind = skipped.kind
      message = skipped.reason
    case .waiting(let number, let isStopped):
      self.event = "waiting"
      processNumber = number
      self.isStopped = isStopped
    case .resumed(let steps, let at, let total, let lost):
      self.event = "resumed"
      self.steps = steps.map(\.name)
      atSeconds = at
      ofSeconds = total
      lostSeconds = lost
    case .beganAnew(let steps, let loss, let lost):
      self.event = "began-anew"
      self.steps = steps.map(\.name)
      cause = loss.cause
      part = loss.part
      earlier = loss.run
      processNumber = loss.processNumber
      lostSeconds = lost
    case .dropped(let id, let part, let at):
      self.event = "dropped"
      step = id.name
      cause = .damaged
      self.part = part
      atSeconds = at
    case .passStarted(let steps, let replayed, let mediaSeconds):
      self.event = "pass"
      self.steps = steps.map(\.name)
      self.replayed = replayed.map(\.name)
      seconds = mediaSeconds
    case .progress(let id, let done, let total):
      self.event = "progress"
      step = id.name
      self.done = done
      self.total = total
    case .finished(let record):
      self.event = "finished"
      step = record.id.name
      kind = record.kind
      result = record
      findings = record.foundValue
    case .warning(let id, let text):
      self.event = "warning"
      step = id.name
      message = text
    case .retrying(let id, let error, let delay):
      self.event = "retrying"
      step = id?.name
      message = error.message
      seconds = delay
    case .published(let file):
      self.event = "published"
      step = file.step.name
      self.file = file
    case .ended(let record):
      self.event = "ended"
      run = RunLine(record)
    }
  }
}

/// A warning without a step, as `--json` shows it.
struct WarningLine: Encodable {
  private let event = "warning"
  private let message: String

  init(_ message: String) { self.message = message }
}

/// A run's error as `--json` shows it.
struct ErrorLine: Encodable {
  private let event = "error"
  private let step: String?
  private let kind: String?
  private let recording: String?
  private let message: String
  private let reason: String?
  private let advice: String?

  init(_ failure: RunError) {
    step = failure.step?.name
    kind = failure.kind
    recording = failure.recording
    message = failure.error.message
    reason = failure.error.reason
    advice = failure.error.advice
  }
}

/// A run as `--json` shows it: its record and the `findings` of its steps.
struct RunLine: Encodable {
  private let run: RunRecord

  init(_ run: RunRecord) { self.run = run }

  private enum Key: CodingKey { case findings }

  func encode(to encoder: any Encoder) throws {
    try run.encode(to: encoder)
    let findings = run.findings
    guard !findings.isEmpty else { return }
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(findings, forKey: .findings)
  }
}

extension RunRecord.State {
  /// `running`, `done`, `failed`, `refused`, `interrupted`, `cut off`, `paused: disk full` or
  /// `dropped`.
  var words: String {
    switch self {
    case .running: "running"
    case .done: "done"
    case .failed: "failed"
    case .refused: "refused"
    case .interrupted: "interrupted"
    case .cutOff: "cut off"
    case .paused: "paused: disk full"
    case .dropped: "dropped"
    }
  }
}

extension RunRecord {
  var status: String { state.words }

  /// The command that continues it; nil if it is done or still running.
  var wayOn: String? {
    switch state {
    case .running, .done, .dropped: nil
    case .failed, .refused, .interrupted, .cutOff, .paused: "spool resume \(id)"
    }
  }

  /// Seconds from start to end, including those in which the process was stopped; nil before the
  /// end. At least the working time, even if the system clock was set back.
  var seconds: Double? {
    guard let finishedAt else { return activeSeconds }
    return max(finishedAt - startedAt, activeSeconds ?? 0)
  }

  /// Seconds in which the process was stopped or the machine slept; nil if negligible.
  var stoppedSeconds: Double? {
    guard let seconds, let activeSeconds, seconds - activeSeconds >= 1 else { return nil }
    return seconds - activeSeconds
  }
}
