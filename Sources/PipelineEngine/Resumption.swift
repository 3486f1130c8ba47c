import Synchronization

/// Where a pass went on, as its executor tells it.
final class Resumption: Sendable {
  private let place = Mutex<Double?>(nil)

  /// Seconds of the recording; nil where the pass began at its beginning.
  var seconds: Double? { place.withLock { $0 } }

  /// Takes note of the place.
  func note(_ seconds: Double) { place.withLock { $0 = seconds } }
}
