/// Which of the pieces that wait in a pool is begun first.
public enum WorkPriority: Int, Hashable, Sendable, CaseIterable {
  /// Before all others. For long pieces where short ones wait as well: the short ones then fill
  /// what is left at the end, when one thread alone would be at work on a long one.
  case high
  /// When nothing of high priority waits.
  case normal
}
