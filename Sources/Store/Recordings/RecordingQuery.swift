import Platform

/// A filter of recordings.
package struct RecordingQuery: Hashable, Sendable {
  /// All states if empty.
  package var states: Set<RecordingState>
  /// Only cancelled or only other recordings; both if nil.
  package var isCancelled: Bool?
  /// All pipelines if nil.
  package var pipeline: String?
  /// Only those changed at or after this time, in seconds since 1970; all if nil.
  package var changedSince: Double?
  package var limit: Int

  /// The last changed come first.
  package init(
    states: Set<RecordingState> = [], isCancelled: Bool? = nil, pipeline: String? = nil,
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

/// Counts of recordings by state, and what is due.
package struct RecordingTally: Hashable, Sendable {
  package struct Count: Hashable, Sendable {
    package let count: Int
    /// When the oldest of them entered the state, in seconds since 1970.
    package let since: Double
  }

  /// The occupied states. Cancelled recordings do not count as failed.
  package var counts: [RecordingState: Count] = [:]
  /// The quarantined recordings, of any pipeline, whose file was written on later and is done as
  /// another recording: nothing is to be decided about them.
  package var completed: Set<RecordingKey> = []
  /// Cancelled recordings; nil if none.
  package var cancelled: Count?
  /// Commands that wait for their recordings; nil if none.
  package var waitingCommands: Count?
  /// When the next recording is retried, in seconds since 1970; nil if none.
  package var nextAttempt: Double?
  /// Files to be moved out of an inbox.
  package var heldFiles = 0

  package subscript(_ state: RecordingState) -> Int { counts[state]?.count ?? 0 }

  /// Commands for the user, the most urgent first.
  package var nextCommands: [String] {
    var commands: [String] = []
    if self[.quarantined] > completed.count {
      commands.append("\(command: .inboxList) \(option: .state) quarantined")
    }
    if self[.failed] > 0 { commands.append("\(command: .inboxList) \(option: .state) failed") }
    return commands
  }
}
