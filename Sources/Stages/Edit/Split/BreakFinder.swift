import Audio
import FoundationEssentials
import PipelineModel

/// Where a stream is to be cut, as far as that is known by now.
struct BreakFinder {
  /// Whether it is an error that a place lies beyond the end.
  let mustFit: Bool
  /// The markers that the places come from.
  let markers: MarkedBreaks?
  /// What is listened for.
  let pause: PauseFinder.Settings?
  /// The places that are known beforehand.
  private let known: [Frames]
  private var finder: PauseFinder?

  /// Cuts at places that are known beforehand.
  init(_ breaks: [Frames], mustFit: Bool, markers: MarkedBreaks? = nil) {
    known = breaks
    self.mustFit = mustFit
    self.markers = markers
    pause = nil
  }

  /// Cuts at markers; those beyond the end do not count.
  init(_ markers: MarkedBreaks) {
    self.init(markers.breaks, mustFit: false, markers: markers)
  }

  /// Cuts at pauses.
  init(_ settings: PauseFinder.Settings, format: AudioFormat) {
    known = []
    mustFit = false
    markers = nil
    pause = settings
    finder = PauseFinder(settings, format: format)
  }

  /// The places so far, in order.
  var breaks: [Frames] { finder?.finding() ?? known }

  /// No place before this frame is found any more.
  var settled: Frames { finder?.settled ?? Frames(.max) }

  /// Listens to a block that begins at frame `start` of the stream, but for what it heard in an
  /// earlier process.
  func take(_ block: borrowing AudioBuffer, at start: Frames) {
    guard let finder else { return }
    finder.analyse(block, from: max(finder.position - start, .zero))
  }

  /// What it goes on from in another process; empty where that is nothing.
  var state: String {
    finder.map { Data($0.snapshot.bytes).base64EncodedString() } ?? ""
  }

  /// A finder that goes on from what `state` gave, in this one's place; nil where it does not fit.
  func resumed(from state: String, format: AudioFormat) -> BreakFinder? {
    guard let pause else { return state.isEmpty ? self : nil }
    let resumed = BreakFinder(pause, format: format)
    guard let bytes = Data(base64Encoded: state),
      (try? resumed.finder?.restore(ProcessorSnapshot(bytes: Array(bytes)))) != nil
    else { return nil }
    return resumed
  }
}
