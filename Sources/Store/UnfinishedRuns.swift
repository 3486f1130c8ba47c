internal import PipelineModel

/// The runs that stopped in the middle of their work and may be gone on with: whatever they need stays,
/// until they are done or dropped.
struct UnfinishedRuns {
  /// Their names.
  let names: Set<String>
  /// When the first of them began, in seconds since 1970; nil where there is none.
  let firstStart: Double?

  /// Picks them out of all runs, newest first.
  init(_ runs: [RunRecord]) {
    let open = RunRecord.unsettled(in: runs).filter(\.isUnfinished)
    names = Set(open.map(\.id.name))
    firstStart = open.map(\.startedAt).min()
  }

  /// Whether one of them may have made what is of this time, in seconds since 1970, without having come
  /// to say so.
  func mayHaveMade(at time: Double) -> Bool { firstStart.map { time >= $0 } ?? false }
}
