/// Which notes are wanted.
public struct NoteQuery: Hashable, Sendable {
  /// The states; all where it is empty.
  public var states: Set<NoteState>
  /// Whether those that were cancelled are wanted, or those that were not; both where it is nil.
  public var isCancelled: Bool?
  /// The pipeline; all where it is nil.
  public var pipeline: String?
  /// Only those that changed at this time or later, in seconds since 1970; all where it is nil.
  public var changedSince: Double?
  /// How many at most.
  public var limit: Int

  /// Asks for notes, those that changed last before the others.
  public init(
    states: Set<NoteState> = [], isCancelled: Bool? = nil, pipeline: String? = nil,
    changedSince: Double? = nil,
    limit: Int = 100
  ) {
    self.states = states
    self.isCancelled = isCancelled
    self.pipeline = pipeline
    self.changedSince = changedSince
    self.limit = limit
  }
}

/// How many notes stand how, and what happens next by itself.
public struct NoteTally: Hashable, Sendable {
  /// The notes of one state.
  public struct Count: Hashable, Sendable {
    /// How many there are.
    public let count: Int
    /// Since when the one that has stood so longest does, in seconds since 1970.
    public let since: Double

    /// Describes a count.
    public init(count: Int, since: Double) {
      self.count = count
      self.since = since
    }
  }

  /// The states in which there are any. What was cancelled is not among those that failed.
  public var counts: [NoteState: Count]
  /// Notes that were cancelled; nil where there are none.
  public var cancelled: Count?
  /// Commands of devices that wait for their notes to arrive; nil where there are none.
  public var waitingCommands: Count?
  /// When the next note is tried again by itself, in seconds since 1970; nil where none is.
  public var nextAttempt: Double?
  /// How many files wait to be moved out of an inbox.
  public var heldFiles: Int

  /// Describes a tally.
  public init(counts: [NoteState: Count] = [:], nextAttempt: Double? = nil, heldFiles: Int = 0) {
    self.counts = counts
    self.nextAttempt = nextAttempt
    self.heldFiles = heldFiles
  }

  /// How many notes there are of a state.
  public subscript(_ state: NoteState) -> Int { counts[state]?.count ?? 0 }

  /// What a user can type next, the most urgent first.
  public var nextCommands: [String] {
    var commands: [String] = []
    if self[.quarantined] > 0 { commands.append("spool inbox list --state quarantined") }
    if self[.failed] > 0 { commands.append("spool inbox list --state failed") }
    return commands
  }
}
