internal import Hashing
internal import PipelineModel
internal import Synchronization

/// The moment in a note's run at which it is accepted: its recording has been decoded to its end,
/// the sound is known, and nothing has been published. Here it turns out whether the sound has come
/// before, and then the run ends.
final class AcceptanceGate: Sendable {
  /// How the note stands.
  private enum Standing {
    /// Its recording has not been decoded to its end.
    case outside
    /// It is accepted.
    case accepted
    /// There is nothing more to be done with it.
    case dismissed
  }

  private let standing = Mutex(Standing.outside)
  private let decide: @Sendable (Digest?) throws(StageError) -> Bool

  /// - Parameter decide: records the acceptance, and says whether the note is to be gone on with.
  init(_ decide: @Sendable @escaping (Digest?) throws(StageError) -> Bool) { self.decide = decide }

  /// Whether the run has ended here.
  var isDismissed: Bool { standing.withLock { $0 == .dismissed } }

  /// Accepts the note, once.
  /// - Parameter sound: what tells its sound from others; nil where the pipeline does not say.
  /// - Throws: where the run is to end here.
  func pass(_ sound: Digest?) throws(StageError) {
    try standing.withLock { (standing) throws(StageError) in
      if standing == .outside { standing = try decide(sound) ? .accepted : .dismissed }
      if standing == .dismissed { throw .cancelled }
    }
  }
}
