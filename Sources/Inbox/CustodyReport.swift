public import PipelineModel

/// What of its debts custody has paid, and what it could not.
public struct CustodyReport: Sendable {
  /// How many acknowledgements were written.
  public var acknowledgements = 0
  /// How many commands were answered.
  public var answers = 0
  /// Commands that waited for their notes and have been decided since, with what came of them.
  public var decidedLate: [NoteCommandResult] = []
  /// The files that were released.
  public var released: [FileRelease] = []
  /// Whether notes were forgotten whose files may still lie in an inbox: those are new now.
  public var isAnyForgotten = false
  /// Whether a snapshot of all current notes was written.
  public var isSnapshotWritten = false
  /// The notes of processes that had died, which are to be processed again.
  public var recovered: [Note] = []
  /// What could not be done. It is tried again.
  public var problems: [CustodyError] = []
  /// In how many seconds there will be more to do even if nothing happens; nil where not.
  public var nextCall: Double?
}

/// What custody remembers between two calls of `settle`.
struct CustodySettling {
  /// Files that could not be released, and when they are tried again, in seconds since 1970.
  var troubled: [Int64: Double] = [:]
  /// Files that lie aside until they are deleted, and since when, in seconds since 1970.
  var aside: [Int64: Double] = [:]
  /// The ledger's version that the last snapshot shows.
  var snapshotVersion: Int64?
  /// When the last snapshot was written, and how long that took, in seconds.
  var snapshotTime = -Double.infinity
  var snapshotCost = 0.0
}
