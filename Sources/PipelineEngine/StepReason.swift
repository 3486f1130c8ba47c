public import Hashing
public import PipelineModel

/// Why a step of a run was made or reused.
public enum StepReason: Hashable, Sendable {
  /// What a step gave was there: made by this run.
  case reused(madeBy: RunID)
  /// What a step gave was there, and the record of the run that made it was lost: this one, most likely,
  /// as it was cut off before that step by all that is recorded; nil where no such run is known.
  case reusedOfLostRecord(probably: RunID?)
  /// Another step of the same run had done the same work.
  case sameWork(as: StepID)
  /// No earlier run of the pipeline had the step; nor had there been one at all, if `isFirstRun`.
  case firstTime(isFirstRun: Bool)
  /// It was other work than in an earlier run.
  case changed([StepChange], since: RunID)
  /// The same work had been done before, and what it gave was no longer in the store.
  case madeAgain(after: RunID)
  /// What the step was made of is no longer in the store.
  case forgotten
  /// This run, the nearest, had done other work, and what that was made of is not in the store.
  case incomparable(with: RunID)
  /// It was being worked on when the run ended this way, or still is.
  case begun(RunRecord.State)
  /// It failed, for this reason as far as one is recorded.
  case failed(String?)
  /// It is done, and files of it did not get into the user's folder, for this reason.
  case unpublished(String?)
  /// It was not done in this run, nor begun.
  case notDone(StepRecord.Outcome)
}

/// What made a step's work another, told by its cause.
public enum StepChange: Hashable, Sendable {
  /// A component of its key.
  case key(KeyChange)
  /// A step above gave something else at this port: what it gave then, and what it gives now.
  case upstream(PortName, StepID, from: Digest, to: Digest)
  /// The port is fed by another step, or by a file that was given; nil where it is such a file.
  case source(PortName, from: StepID?, to: StepID?)
  /// A file that was given has other bytes; the paths tell whether it is another file.
  case recording(String, from: GivenFile, to: GivenFile)
}
