public import JSONText
import PipelineModel

/// What became of one file.
public struct BatchFileResult: Hashable, Sendable {
  /// How it ended.
  public enum Outcome: String, Hashable, Sendable, Codable {
    /// It was done in this batch.
    case done
    /// It was done before, and nothing has changed since.
    case reused
    /// It failed.
    case failed
    /// The batch was stopped before or while it was worked on.
    case interrupted
    /// It did not fail in the last batch, and only those that did were wanted.
    case leftOut = "left-out"
  }

  /// Why a file failed.
  public struct Failure: Hashable, Sendable, Codable {
    /// The step that failed; nil where it was none.
    public let step: String?
    /// What failed.
    public let message: String
    /// Why.
    public let reason: String?
    /// What the user can do.
    public let advice: String?

    init(_ error: StageError, step: StepID? = nil) {
      self.step = step?.name
      message = error.message
      reason = error.reason
      advice = error.advice
    }
  }

  /// Its path below the batch's folder.
  public let path: String
  /// How it ended.
  public let outcome: Outcome
  /// Why it failed.
  public var failure: Failure?
  /// Why the whole batch pauses with this file: a disk is full, and no other one would fare better.
  var pause: StageError?
  /// How long it is, in seconds; nil while unknown.
  public var mediaSeconds: Double?
  /// What `batch.json` says of it besides, as one JSON object.
  public var report: String

  /// What the steps of its run found out, by step, as `batch.json` has it; empty where it found
  /// nothing. O(n).
  public var findings: [String: JSONValue] {
    let value = try? JSONReader.value(of: Array(report.utf8), depthLimit: 64).value
    guard case .object(let levels)? = value?[FileReport.findingsKey] else { return [:] }
    return levels
  }

  /// Whether its exports are called otherwise than wanted, for another file's have that name.
  var isRenamed: Bool { report.contains("\"\(FileReport.wantedNameKey)\":\"") }

  init(
    path: String, outcome: Outcome, failure: Failure? = nil, mediaSeconds: Double? = nil,
    report: String
  ) {
    self.path = path
    self.outcome = outcome
    self.failure = failure
    self.mediaSeconds = mediaSeconds
    self.report = report
  }
}
