public import PipelineModel

/// Runs that are kept, whatever is freed.
extension DiskStore {
  /// Keeps a run: nothing that it needs is freed until it is unpinned.
  /// - Parameter prefix: the run's name, or the beginning of it.
  /// - Returns: the run; nil if there is none of that name.
  public func pin(_ prefix: String) throws(StoreError) -> RunRecord? {
    guard let run = try run(named: prefix) else { return nil }
    let pin = Pin(run: run.id, pinnedAt: Double(clock()) / 1e9)
    try records.write(pin)
    try withDatabase { (database) throws(StoreError) in try PinTable.write(pin, to: &database) }
    return run
  }

  /// Lets a run go like any other. - Returns: the run; nil if there is none of that name.
  public func unpin(_ prefix: String) throws(StoreError) -> RunRecord? {
    guard let run = try run(named: prefix) else { return nil }
    try withDatabase { (database) throws(StoreError) in
      try PinTable.remove(run.id, from: &database)
    }
    try records.remove(records.path(ofPin: run.id))
    return run
  }
}
