public import PipelineModel

/// How an inbox wants its recordings kept.
public struct CustodyRules: Hashable, Sendable {
  /// What becomes of a recording's file once all that was required is done.
  public enum Keeping: String, Hashable, Sendable, Codable, CaseIterable {
    /// It is moved to the inbox's folder `accepted`.
    case move
    /// It is deleted; the store keeps the recording.
    case delete
    /// It stays where it is.
    case leave
  }

  /// What becomes of a recording's file.
  public var keep = Keeping.move
  /// How long a file that is to be deleted lies aside until it is, in seconds, and must not change
  /// meanwhile: a writer that has kept it open all the time has a last chance to be noticed.
  public var asidePeriod = 5.0
  /// The same where the system does not tell whether somebody has it open for writing.
  public var unseenAsidePeriod = 60.0
  /// What becomes of a recording that claims the identity of another one with other bytes.
  public var conflicts = ConflictPolicy.quarantine
  /// When a note that failed is tried again.
  public var retry = NoteRetryPolicy()
  /// How long after a recording its sidecar may come and still be taken for its own, in seconds:
  /// programs give the same names again.
  public var lateSidecarLimit = 3600.0
  /// The shortest time between two snapshots of all current notes, in seconds.
  public var snapshotPause = 1.0
  /// How long an uploaded note counts as current, in seconds; its acknowledgement stays.
  public var currentPeriod = 30.0 * 86_400
  /// How many uploaded notes a snapshot shows at most, the last first; it counts all of them.
  public var currentLimit = 5000

  /// The rules of an inbox that was told nothing.
  public init() {}
}
