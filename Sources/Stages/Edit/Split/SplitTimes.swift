import Audio
import PipelineModel
import Platform
import SoundEngine

/// The times at which a user wants sound to be cut.
struct SplitTimes: Hashable, Sendable {
  private let times: [Seconds]

  /// Throws unless they ascend from behind the beginning.
  init(_ times: [Seconds]) throws(SpoolError) {
    var last = Seconds(0)
    for (index, time) in times.enumerated() {
      guard time > last else {
        throw index == 0
          ? SpoolError(
            "split would make an empty piece: its first time is the beginning of the sound",
            advice: "leave 0 s out")
          : SpoolError(
            "split's times do not ascend: \(time.words) follows \(last.words)",
            advice: "write them in order, each once")
      }
      last = time
    }
    self.times = times
  }

  /// How many there are.
  var count: Int { times.count }

  /// The times as frames; throws where two are one frame, or one lies beyond an end that is known.
  func breaks(in stream: SoundOutline) throws(SpoolError) -> [Frames] {
    let rate = stream.format.sampleRate
    var breaks: [Frames] = []
    for time in times {
      let frame = time.frames(at: rate)
      guard frame > breaks.last ?? .zero else {
        throw SpoolError(
          "split would make an empty piece at \(time.words)",
          reason: "a frame takes \(1 / rate.value) s", advice: "times that are further apart")
      }
      breaks.append(frame)
    }
    if let end = stream.certainFrames {
      try SplitTimes.check(breaks, within: end, at: rate)
    }
    return breaks
  }

  /// Throws where sound of this length has nothing behind the last break.
  static func check(_ breaks: [Frames], within end: Frames, at rate: Hertz) throws(SpoolError) {
    guard let beyond = breaks.first(where: { $0 >= end }) else { return }
    throw SpoolError(
      "split cannot begin a piece at \(beyond.duration(at: rate).words)",
      reason: "the sound ends at \(end.duration(at: rate).words)",
      advice: "choose times within the sound")
  }
}
