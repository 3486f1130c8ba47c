public import PipelineModel

/// What happens in a run, as it happens. The terminal, `--json` and the log are recorders of the
/// same events.
public enum RunEvent: Sendable {
  /// The run begins.
  case started(RunRecord)
  /// A step's checkpoint was there already.
  case reused(StepID, kind: String)
  /// A step's condition does not hold.
  case skipped(SkippedStep)
  /// Another process that is alive does this very work; the run goes on when it has ended. Number 0
  /// means that it cannot be told which. A stopped process has to be continued or ended first.
  case waiting(processNumber: Int, isStopped: Bool)
  /// A pass that an earlier process left unfinished goes on at this point of the recording, of
  /// `ofSeconds` in all where that is known; so much work was lost at most.
  case resumed(
    steps: [StepID], atSeconds: Double, ofSeconds: Double? = nil, lostSeconds: Double)
  /// Work begins at its beginning although earlier processes had been at it; so much of theirs is lost
  /// at most, where that is known.
  case beganAnew(steps: [StepID], Setback, lostSeconds: Double? = nil)
  /// A part of unfinished work is damaged: it was dropped, and the step goes on with it at this place of
  /// the recording, in seconds.
  case dropped(StepID, part: String, goesOnAtSeconds: Double)
  /// A pass begins; `replayed` steps are streamed again for those below them.
  case passStarted(steps: [StepID], replayed: [StepID], mediaSeconds: Double?)
  /// A step is so far, in seconds of the recording; a step that is no pass, whose start names no
  /// seconds, by the share of its work, of a total of 1.
  case progress(StepID, done: Double, total: Double?)
  /// A step is done and its checkpoint durable.
  case finished(StepRecord)
  /// Something that does not end the run.
  case warning(StepID, String)
  /// A step will be tried again.
  case retrying(StepID?, StageError, afterSeconds: Double)
  /// A file is in the user's folder.
  case published(PublishedFile)
  /// The run is over, one way or the other.
  case ended(RunRecord)
}

/// Takes note of events. Called from several threads, one at a time for each event's step.
public protocol RunRecorder: Sendable {
  /// Takes note of an event.
  func record(_ event: RunEvent)
}

/// A run that came to no good end: what failed on which recording and step, why, and what to do.
public struct RunError: Error, Hashable, Sendable {
  /// The step; nil where the run as a whole failed.
  public let step: StepID?
  /// The step's stage kind.
  public let kind: String?
  /// The recording's path.
  public let recording: String?
  /// What happened.
  public let error: StageError

  /// Describes a failure.
  public init(
    _ error: StageError, step: StepID? = nil, kind: String? = nil, recording: String? = nil
  ) {
    self.error = error
    self.step = step
    self.kind = kind
    self.recording = recording
  }
}
