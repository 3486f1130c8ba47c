import Intake
import PipelineEngine
import PipelineModel
import Platform

/// Writes one JSON object for each event of a run or a batch: `event` names it, and the other
/// members depend on it.
struct JSONRecorder: RunRecorder, BatchRecorder {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func record(_ event: RunEvent) { console.print(json: Self.line(event)) }

  func record(_ event: BatchEvent) { console.print(json: Self.line(event)) }

  static func line(_ event: RunEvent) -> JSONLine {
    switch event {
    case .started(let run): JSONLine("started", ["run": run.line])
    case .estimated(let work):
      JSONLine(
        "estimate",
        [
          "seconds": work.seconds,
          "unknown": work.unknownSteps.map(\.name), "isLearned": work.isLearned,
        ])
    case .hashing(let path, let done, let total):
      JSONLine("hashing", ["path": path, "done": done, "total": total])
    case .reused(let id, let kind): JSONLine("reused", ["step": id.name, "kind": kind])
    case .skipped(let step):
      JSONLine("skipped", ["step": step.id.name, "kind": step.kind, "message": step.reason])
    case .waiting(let number, let isStopped):
      JSONLine("waiting", ["processNumber": number, "isStopped": isStopped])
    case .resumed(let steps, let at, let total, let lost):
      JSONLine(
        "resumed",
        ["steps": steps.map(\.name), "atSeconds": at, "ofSeconds": total, "lostSeconds": lost])
    case .beganAnew(let steps, let loss, let lost):
      JSONLine(
        "began-anew",
        [
          "steps": steps.map(\.name), "cause": loss.cause, "part": loss.part, "earlier": loss.run,
          "processNumber": loss.processNumber, "lostSeconds": lost,
        ])
    case .dropped(let id, let part, let at):
      JSONLine(
        "dropped",
        ["step": id.name, "cause": ResumeLoss.Cause.damaged, "part": part, "atSeconds": at])
    case .passStarted(let steps, let replayed, let mediaSeconds):
      JSONLine(
        "pass",
        ["steps": steps.map(\.name), "replayed": replayed.map(\.name), "seconds": mediaSeconds])
    case .progress(let id, let done, let total):
      JSONLine("progress", ["step": id.name, "done": done, "total": total])
    case .finished(let step):
      JSONLine(
        "finished",
        ["step": step.id.name, "kind": step.kind, "result": step.line, "findings": step.foundValue])
    case .warning(let id, let text): JSONLine("warning", ["step": id.name, "message": text])
    case .retrying(let id, let error, let delay):
      JSONLine("retrying", ["step": id?.name, "message": error.message, "seconds": delay])
    case .published(let file): JSONLine("published", ["step": file.step.name, "file": file])
    case .ended(let run): JSONLine("ended", ["run": run.line])
    }
  }

  static func line(_ event: BatchEvent) -> JSONLine {
    switch event {
    case .listening(let step, let round, let done, let count):
      JSONLine("listening", ["step": step.name, "round": round, "done": done, "files": count])
    case .hashing(let path, let done, let total):
      JSONLine(
        "hashing",
        [
          "path": path, "exactPath": BatchFileResult.exactPath(of: path), "done": done,
          "total": total,
        ])
    case .settled(let step, let figures):
      JSONLine("settled", ["step": step.name, "settled": figures])
    case .planned(let forecast):
      JSONLine(
        "plan",
        [
          "plan": JSONLine([
            "pending": forecast.pendingCount, "reused": forecast.reusedCount,
            "leftOut": forecast.leftOutCount, "impossible": forecast.troubleCount,
            "mediaSeconds": forecast.mediaSeconds, "storeBytes": forecast.storeByteCount,
            "publishedBytes": forecast.publishedByteCount,
            "storeFreeBytes": forecast.storeFreeByteCount,
            "outputFreeBytes": forecast.outputFreeByteCount, "seconds": forecast.seconds,
            "unknown": forecast.unknownSteps, "isSampled": forecast.isSampled,
            "workers": forecast.workerCount,
            "exportFolders": forecast.exportFolders, "skipped": forecast.skipped.namedCounts,
            "renamed": forecast.renamed,
          ])
        ])
    case .started(let path, let share):
      JSONLine(
        "started",
        ["path": path, "exactPath": BatchFileResult.exactPath(of: path), "share": share])
    case .progress(let path, let fraction):
      JSONLine(
        "progress",
        ["path": path, "exactPath": BatchFileResult.exactPath(of: path), "fraction": fraction])
    case .warning(let path, let step, let text):
      JSONLine(
        "warning",
        [
          "path": path, "exactPath": BatchFileResult.exactPath(of: path), "step": step.name,
          "message": text,
        ])
    case .finished(let result): line(result)
    case .ended(let end):
      JSONLine(
        "ended",
        [
          "summary": JSONLine([
            "done": end.doneCount, "reused": end.reusedCount, "failed": end.failed.count,
            "interrupted": end.interruptedCount, "damaged": end.damaged.count,
            "seconds": end.seconds,
            "skipped": end.skipped.namedCounts, "renamed": end.renamed,
            "earlierExports": end.earlierExports,
            "pause": end.pause?.message, "report": end.reportPath,
          ])
        ])
    }
  }

  private static func line(_ result: BatchFileResult) -> JSONLine {
    let facts = result.facts
    let exports: [BatchFileResult.Export] = facts.exports ?? []
    return JSONLine(
      "file",
      [
        "path": result.path, "exactPath": facts.exactPath, "outcome": result.outcome.rawValue,
        "run": facts.run, "exports": exports, "error": result.failure,
        "mediaSeconds": result.mediaSeconds,
        "findings": result.findings.isEmpty ? nil : result.findings,
        "damage": result.damage.isEmpty ? nil : result.damage,
      ])
  }
}

extension JSONLine {
  /// A run's error.
  init(_ failure: RunError) {
    self.init(
      "error",
      [
        "step": failure.step?.name, "kind": failure.kind, "recording": failure.recording,
        "message": failure.error.message, "reason": failure.error.reason,
        "advice": failure.error.advice,
      ])
  }

  /// The error that ends a command.
  init(_ error: SpoolError) {
    self.init(
      "error", ["message": error.message, "reason": error.reason, "advice": error.advice])
  }
}

/// A JSON object of named values; nil ones are left out.
struct JSONLine: Encodable {
  private let members: [(name: String, value: any Encodable)]
  private var whole: (any Encodable)?

  init(_ members: KeyValuePairs<String, (any Encodable)?>) {
    self.members = members.compactMap { name, value in value.map { (name, $0) } }
  }

  /// An event with its other members.
  init(_ event: String, _ members: KeyValuePairs<String, (any Encodable)?>) {
    self.members =
      [("event", event)] + members.compactMap { name, value in value.map { (name, $0) } }
  }

  /// The members of a value and others.
  init(_ whole: some Encodable, adding members: KeyValuePairs<String, (any Encodable)?>) {
    self.init(members)
    self.whole = whole
  }

  func encode(to encoder: any Encoder) throws {
    try whole?.encode(to: encoder)
    var container = encoder.container(keyedBy: Name.self)
    for (name, value) in members { try container.encode(value, forKey: Name(stringValue: name)) }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
