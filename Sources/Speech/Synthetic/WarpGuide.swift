/// The way that a coarse look found, as a guide for a closer one.
struct WarpGuide: Hashable {
  /// Frames of the recording and of the synthetic voice that meet; both rise.
  private let anchors: [(recording: Int, synthetic: Int)]

  /// How far from the guide the way may lead, in frames of either.
  private static let reach = 250

  init(_ anchors: [(recording: Int, synthetic: Int)]) { self.anchors = anchors }

  static func == (a: WarpGuide, b: WarpGuide) -> Bool {
    a.anchors.elementsEqual(b.anchors, by: ==)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(anchors.count) }

  /// Which frames may meet.
  ///
  /// Complexity: O(*n*) in the number of frames and of anchors.
  func band(recording: Int, synthetic: Int) -> TimeWarp.Band {
    let line = synthetics(upTo: recording, synthetic)
    let ranges = (0..<recording).map { frame in
      let low = line[max(0, frame - Self.reach)] - Self.reach
      let high = line[min(recording - 1, frame + Self.reach)] + Self.reach
      let upper = min(synthetic, max(1, high))
      return min(max(0, low), upper - 1)..<upper
    }
    return TimeWarp.Band(ranges: Self.whole(ranges, synthetic))
  }

  /// The first row reaches the beginning and the last one the end.
  private static func whole(_ ranges: [Range<Int>], _ synthetic: Int) -> [Range<Int>] {
    guard var first = ranges.first, var last = ranges.last else { return [] }
    var ranges = ranges
    first = 0..<first.upperBound
    last = last.lowerBound..<synthetic
    ranges[0] = first
    ranges[ranges.count - 1] = ranges.count == 1 ? 0..<synthetic : last
    return ranges
  }

  /// For each frame of the recording the one of the voice, on straight lines between the anchors.
  private func synthetics(upTo recording: Int, _ synthetic: Int) -> [Int] {
    let all = [(recording: 0, synthetic: 0)] + anchors + [(recording, synthetic)]
    var line: [Int] = []
    line.reserveCapacity(recording)
    for (from, to) in zip(all, all.dropFirst()) {
      let count = to.recording - line.count
      guard count > 0 else { continue }
      let length = max(1, to.recording - from.recording)
      for frame in line.count..<to.recording {
        line.append(
          from.synthetic + (to.synthetic - from.synthetic) * (frame - from.recording) / length)
      }
    }
    return line
  }
}
