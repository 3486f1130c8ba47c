internal import PipelineModel
import Synchronization

/// Where a pass went on, as its executor tells it.
final class Resumption: Sendable {
  /// The run that had begun the same and did not come to its end; nil where there is none, or where
  /// this run has done something already.
  let earlier: RunID?
  private let place = Mutex<Double?>(nil)

  init(after earlier: RunID?) { self.earlier = earlier }

  /// Seconds of the recording; nil where the pass began at its beginning.
  var seconds: Double? { place.withLock { $0 } }

  /// Takes note of the place.
  func note(_ seconds: Double) { place.withLock { $0 = seconds } }
}
