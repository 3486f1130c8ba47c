extension RunRecord {
  /// The runs with which there is still something to be done, in their order. Which runs are later
  /// is told by their order alone, and a run that names the one it goes on with settles that one
  /// wherever it stands: clocks are set back. O(n) where most are done, O(n²) at worst.
  /// - Parameter runs: the runs, the one that was recorded last first.
  public static func unsettled(in runs: [RunRecord]) -> [RunRecord] {
    let takenUp = Set(runs.compactMap(\.resumes))
    return runs.indices.filter {
      !takenUp.contains(runs[$0].id) && !runs[$0].isSettled(by: runs[..<$0])
    }.map { runs[$0] }
  }
}
