import PipelineModel

/// What is worth telling of a wait for another process: each owner once. A pure value.
///
/// Whoever has just claimed work holds its lock before its name is written down. So an owner without a
/// name is told only where the next look does not give one.
struct WaitNews {
  private var last: WorkOwner?
  private var isUnnamed = false

  /// Takes note of who has the work, and gives who is to be told, if anybody.
  mutating func take(_ owner: WorkOwner) -> WorkOwner? {
    guard owner.processNumber > 0 || isUnnamed else {
      isUnnamed = true
      return nil
    }
    isUnnamed = owner.processNumber <= 0
    // The same wait goes on where only its name is missing for once.
    if isUnnamed, last != nil { return nil }
    guard owner != last else { return nil }
    last = owner
    return owner
  }
}
