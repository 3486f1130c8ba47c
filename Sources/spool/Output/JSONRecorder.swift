import FoundationEssentials
import JSONText
import PipelineEngine
import PipelineModel

/// Writes one JSON object for every event.
struct JSONRecorder: RunRecorder {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func record(_ event: RunEvent) {
    console.print(JSONText.of(EventLine(event)))
  }
}

/// Says only what went wrong without ending the run.
struct SilentRecorder: RunRecorder {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func record(_ event: RunEvent) {
    if case .warning(let step, let text) = event {
      console.report("warning: \(step): \(Format.visible(text))")
    }
  }
}

/// Encodable values as one line of JSON with sorted keys.
enum JSONText {
  static func of(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}

/// An event as `--json` shows it: `event` names it, the other members depend on it.
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
  private var cause: Setback.Cause?
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
    case .beganAnew(let steps, let setback, let lost):
      self.event = "began-anew"
      self.steps = steps.map(\.name)
      cause = setback.cause
      part = setback.part
      earlier = setback.run
      processNumber = setback.processNumber
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

/// A warning that belongs to no step, as `--json` shows it.
struct WarningLine: Encodable {
  private let event = "warning"
  private let message: String

  init(_ message: String) { self.message = message }
}

/// A run's failure as `--json` shows it, with its parts apart.
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
