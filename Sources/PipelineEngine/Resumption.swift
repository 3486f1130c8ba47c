internal import PipelineModel
import Synchronization

/// Where a pass went on, as its executor tells it, and what of earlier work was of no use.
final class Resumption: Sendable {
  /// The run that had begun the same and did not come to its end; nil where there is none, or where
  /// this run has done something already.
  let earlier: RunRecord?
  private let state = Mutex(State())

  private struct State {
    var seconds: Double?
    var setbacks: [StepID: Setback] = [:]
  }

  init(after earlier: RunRecord?) { self.earlier = earlier }

  /// Seconds of the recording; nil where the pass began at its beginning.
  var seconds: Double? { state.withLock { $0.seconds } }

  /// Why steps began anew, or went on further back than an earlier process had come.
  var setbacks: [StepID: Setback] { state.withLock { $0.setbacks } }

  /// Takes note of the place.
  func note(_ seconds: Double) { state.withLock { $0.seconds = seconds } }

  /// Takes note of a setback of these steps. Of damage in several places, all are kept.
  func note(_ setback: Setback, of steps: [StepID]) {
    state.withLock { state in
      for step in steps {
        state.setbacks[step] = state.setbacks[step]?.joined(with: setback) ?? setback
      }
    }
  }
}

extension Setback {
  /// This damage with what else was found damaged later; what came later alone where either is none.
  fileprivate func joined(with later: Setback) -> Setback {
    guard cause == .damaged, later.cause == .damaged, let part = later.part else { return later }
    var joined = self
    let known = [self.part].compactMap { $0 } + (furtherParts ?? [])
    if !known.contains(part) { joined.furtherParts = (furtherParts ?? []) + [part] }
    return joined
  }
}
