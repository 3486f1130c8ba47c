import Audio
import FoundationEssentials
import PipelineModel

/// Where a stream is to be cut, as far as that is known by now.
struct BreakFinder {
  private enum Method {
    case known([Frames])
    case pauses(PauseFinder)
  }

  private var method: Method
  /// Whether it is an error that a place lies beyond the end.
  let mustFit: Bool
  /// The markers that the places come from.
  let markers: MarkedBreaks?
  /// What is listened for.
  let pause: PauseFinder.Settings?

  /// Cuts at places that are known beforehand.
  init(_ breaks: [Frames], mustFit: Bool) {
    method = .known(breaks)
    self.mustFit = mustFit
    markers = nil
    pause = nil
  }

  /// Cuts at markers; those beyond the end do not count.
  init(_ markers: MarkedBreaks) {
    method = .known(markers.breaks)
    mustFit = false
    self.markers = markers
    pause = nil
  }

  /// Cuts at pauses.
  init(_ settings: PauseFinder.Settings, format: AudioFormat) {
    method = .pauses(PauseFinder(settings, format: format))
    mustFit = false
    markers = nil
    pause = settings
  }

  /// The places so far, in order.
  var breaks: [Frames] {
    switch method {
    case .known(let breaks): breaks
    case .pauses(let finder): finder.finding()
    }
  }

  /// No place before this frame is found any more.
  var settled: Frames {
    switch method {
    case .known: Frames(.max)
    case .pauses(let finder): finder.settled
    }
  }

  /// Listens to a block that begins at frame `start` of the stream, but for what it heard in an
  /// earlier process.
  func take(_ block: borrowing AudioBuffer, at start: Frames) {
    guard case .pauses(let finder) = method else { return }
    finder.analyse(block, from: max(finder.position - start, .zero))
  }

  /// What it goes on from in another process; empty where that is nothing.
  var state: String {
    guard case .pauses(let finder) = method else { return "" }
    return Data(finder.snapshot.bytes).base64EncodedString()
  }

  /// Goes on from what `state` gave; false where it does not fit.
  func resume(from state: String) -> Bool {
    guard case .pauses(let finder) = method else { return state.isEmpty }
    guard let bytes = Data(base64Encoded: state) else { return false }
    return (try? finder.restore(ProcessorSnapshot(bytes: Array(bytes)))) != nil
  }
}
