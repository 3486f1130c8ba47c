/// What happens in a crash test, as it happens.
public enum KillTestEvent: Sendable {
  /// The undisturbed run is done.
  case reference(files: [OutputDigest], seconds: Double)
  /// A run was killed, so long after its start.
  case killed(number: Int, series: Int, afterSeconds: Double, beforeOperation: Int?)
  /// A start after a kill went on, so long after its beginning; what the kills before it cost.
  case wentOn(series: Int, afterSeconds: Double, isInsidePass: Bool, losses: [Loss])
  /// A series of starts is over.
  case seriesEnded(Int, kills: Int, differenceCount: Int)
  /// Something is not as it should be.
  case differs(Difference)
}
