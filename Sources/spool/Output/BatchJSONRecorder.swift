import Batch
import JSONText
import PipelineModel

/// Writes one JSON object for every event of a batch.
struct BatchJSONRecorder: BatchRecorder {
  private let console: Console

  init(_ console: Console) { self.console = console }

  func record(_ event: BatchEvent) { console.print(JSONText.of(BatchEventLine(event))) }
}

/// An event as `--json` shows it: `event` names it, the other members depend on it.
private struct BatchEventLine: Encodable {
  private var event = ""
  private var path: String?
  private var fraction: Double?
  private var share: Double?
  private var step: String?
  private var message: String?
  private var outcome: String?
  private var error: BatchFileResult.Failure?
  private var mediaSeconds: Double?
  private var findings: [String: JSONValue]?
  private var plan: Plan?
  private var settled: [String: String]?
  private var round: Int?
  private var done: Int?
  private var files: Int?
  private var summary: Summary?

  /// What is said at the beginning.
  private struct Plan: Encodable {
    let pending: Int
    let reused: Int
    let leftOut: Int
    let impossible: Int
    let mediaSeconds: Double
    let storeBytes: Int
    let publishedBytes: Int
    let storeFreeBytes: Int
    let outputFreeBytes: Int
    let seconds: Double
    let isSampled: Bool
    let workers: Int
    let exportFolders: [String]
    let skipped: [String: Int]
    let renamed: Int
  }

  /// What is said at the end.
  private struct Summary: Encodable {
    let done: Int
    let reused: Int
    let failed: Int
    let interrupted: Int
    let seconds: Double
    let skipped: [String: Int]
    let renamed: Int
    let pause: String?
    let report: String?
  }

  init(_ event: BatchEvent) {
    switch event {
    case .listening(let step, let round, let done, let count):
      self.event = "listening"
      self.step = step.name
      self.round = round
      self.done = done
      files = count
    case .settled(let step, let figures):
      self.event = "settled"
      self.step = step.name
      settled = figures
    case .planned(let forecast):
      self.event = "plan"
      plan = Plan(
        pending: forecast.pendingCount, reused: forecast.reusedCount,
        leftOut: forecast.leftOutCount, impossible: forecast.troubleCount,
        mediaSeconds: forecast.mediaSeconds, storeBytes: forecast.storeByteCount,
        publishedBytes: forecast.publishedByteCount, storeFreeBytes: forecast.storeFreeByteCount,
        outputFreeBytes: forecast.outputFreeByteCount, seconds: forecast.seconds,
        isSampled: forecast.isSampled, workers: forecast.workerCount,
        exportFolders: forecast.exportFolders, skipped: forecast.skipped.namedCounts,
        renamed: forecast.renamedCount)
    case .started(let path, let share):
      self.event = "started"
      self.path = path
      self.share = share
    case .progress(let path, let fraction):
      self.event = "progress"
      self.path = path
      self.fraction = fraction
    case .warning(let path, let step, let text):
      self.event = "warning"
      self.path = path
      self.step = step.name
      message = text
    case .finished(let result):
      self.event = "file"
      path = result.path
      outcome = result.outcome.rawValue
      error = result.failure
      mediaSeconds = result.mediaSeconds
      findings = result.findings.isEmpty ? nil : result.findings
    case .ended(let end):
      self.event = "ended"
      summary = Summary(
        done: end.doneCount, reused: end.reusedCount, failed: end.failed.count,
        interrupted: end.interruptedCount, seconds: end.seconds,
        skipped: end.skipped.namedCounts, renamed: end.renamedCount,
        pause: end.pause?.message, report: end.reportPath)
    }
  }
}
