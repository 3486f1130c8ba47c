/// When a run is killed.
public enum KillPlan: Hashable, Sendable {
  /// So many times in all, at moments spread evenly over the time that is left: several times in
  /// one series of starts until that is done, and then in the next.
  /// - Parameters:
  ///   - kills: how often, in all.
  ///   - seed: fixes the moments, as far as the machine keeps time.
  case atRandom(kills: Int, seed: UInt64)

  /// Once in each series: before the first operation by which the store changes something, then
  /// before the one `stride` later, and so on until a run survives.
  case beforeOperations(stride: Int)
}
