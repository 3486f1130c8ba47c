package import PipelineModel
package import Platform
import Synchronization

/// The events of a run. The terminal, `--json` and the log are recorders of the same events.
package enum RunEvent: Sendable {
  case started(RunRecord)
  /// How long the run takes from here on; at its start, and again after each pass or whole stage.
  case estimated(WorkEstimate)
  /// An input file is read to identify it: so many of its bytes are done. Only of files that take a
  /// while.
  case hashing(path: String, done: Int, total: Int)
  /// A step had its checkpoint already.
  case reused(StepID, kind: String)
  /// A step's condition does not hold.
  case skipped(SkippedStep)
  /// Another live process does this work; the run waits for its end. Number 0 means unknown. A
  /// stopped process has to be continued or ended first.
  case waiting(processNumber: Int, isStopped: Bool)
  /// A pass that an earlier process left unfinished resumes at this point of the recording, of
  /// `ofSeconds` in all if known; at most so much work was lost.
  case resumed(
    steps: [StepID], atSeconds: Double, ofSeconds: Double? = nil, lostSeconds: Double)
  /// Work starts over although an earlier process had begun it; at most so much is lost, if known.
  case beganAnew(steps: [StepID], ResumeLoss, lostSeconds: Double? = nil)
  /// A damaged part of unfinished work was dropped; the step resumes at this point of the
  /// recording, in seconds.
  case dropped(StepID, part: String, goesOnAtSeconds: Double)
  /// A pass begins; `replayed` steps are streamed again for those below them.
  case passStarted(steps: [StepID], replayed: [StepID], mediaSeconds: Double?)
  /// A step's progress, in seconds of the recording; for a step that is no pass, as a share of 1.
  case progress(StepID, done: Double, total: Double?)
  /// A step is done and its checkpoint durable.
  case finished(StepRecord)
  /// A problem that does not end the run.
  case warning(StepID, String)
  /// A step will be tried again.
  case retrying(StepID?, SpoolError, afterSeconds: Double)
  /// A file is in the user's folder.
  case published(PublishedFile)
  case ended(RunRecord)
}

/// Records events. Called from several threads, but for each step one at a time.
package protocol RunRecorder: Sendable {
  func record(_ event: RunEvent)
}

/// Remembers what a run warns of, for its record, and passes all events on.
final class WarningMemory: RunRecorder {
  private let other: any RunRecorder
  private let known = Mutex<[StepID: [String]]>([:])
  /// So many texts of a step are remembered: a record is no log.
  private static let limit = 50

  init(_ other: any RunRecorder) { self.other = other }

  /// By step.
  var texts: [StepID: [String]] { known.withLock { $0 } }

  func record(_ event: RunEvent) {
    if case .warning(let step, let text) = event {
      known.withLock { known in
        let texts = known[step] ?? []
        if texts.count < Self.limit, !texts.contains(text) { known[step] = texts + [text] }
      }
    }
    other.record(event)
  }
}

/// A failed run: what failed on which recording and step, why, and what to do.
package struct RunError: Error, Hashable, Sendable {
  /// Nil if the run as a whole failed.
  package let step: StepID?
  package let kind: String?
  /// The recording's path.
  package let recording: String?
  package let error: SpoolError

  package init(
    _ error: SpoolError, step: StepID? = nil, kind: String? = nil, recording: String? = nil
  ) {
    self.error = error
    self.step = step
    self.kind = kind
    self.recording = recording
  }
}

extension RunEvent {
  /// What a log of many runs keeps besides their ends: warnings, and why begun work was not
  /// resumed. Nil for routine events.
  package var concern: (step: StepID, text: String)? {
    switch self {
    case .warning(let step, let text): return (step, text)
    case .dropped(let step, let part, _):
      return (step, "the \(part) was damaged, and is made again")
    case .beganAnew(let steps, let loss, _):
      guard let step = steps.first else { return nil }
      switch loss.cause {
      case .damaged:
        return (step, "\(loss.part ?? "unfinished work") was damaged: it begins anew")
      case .takenOver:
        let process = loss.processNumber.map { "process \($0)" } ?? "another process"
        return (step, "taken over from \(process), which is stopped: it begins anew")
      case .notesLost, .recordingChanged, .pluginChanged: return nil
      }
    default: return nil
    }
  }
}
