/// How far an alignment with a synthetic voice is. Interrupted work resumes from it with the same
/// result.
package struct SyntheticProgress: Hashable, Sendable, Codable {
  /// Which share of the coarse look is done: 0 to 1.
  var surveyed = 0.0
  /// Where each block of the text was found; nil where there is no plan yet.
  var plan: [Place]?
  /// What came of aligning each block; nil where that is not known yet.
  var outcomes: [Outcome?] = []

  /// How much of the work is done: 0 to 1.
  package var share: Double {
    guard plan != nil, !outcomes.isEmpty else { return 0.5 * surveyed }
    return 0.5 + 0.5 * Double(outcomes.count { $0 != nil }) / Double(outcomes.count)
  }

  package init() {}

  /// Where a block of the text was found at a coarse look.
  struct Place: Hashable, Codable {
    /// When it begins and ends, in frames (10 ms) of the recording; nil where it is not there.
    let place: Range<Int>?
    /// Hundredths of the place and of the synthetic voice's block that meet, by turns.
    let anchors: [Int]
  }

  /// The result of aligning a block. All figures are whole numbers, so that what was recorded is what
  /// was found.
  struct Outcome: Hashable, Codable {
    /// The words that were found, each with its number in the text, its beginning and its end in
    /// frames (10 ms) of the recording, and its distance in thousandths.
    var words: [[Int]] = []
    /// What the path costs, in hundredths.
    var cost = 0
    /// What the path costs through the same speech backwards.
    var chance = 0
  }
}

/// A block's place as a guide for a closer look.
extension SyntheticProgress.Place {
  /// How far from the guide the path may lead, in frames of either.
  private static let reach = 250

  /// For each frame of the recording, those of the synthetic voice that it may meet.
  ///
  /// Complexity: O(*n*) in the number of frames and of anchors.
  func band(recording: Int, synthetic: Int) -> [Range<Int>] {
    let line = synthetics(upTo: recording, synthetic)
    var ranges = (0..<recording).map { frame in
      let low = line[max(0, frame - Self.reach)] - Self.reach
      let high = line[min(recording - 1, frame + Self.reach)] + Self.reach
      let upper = min(synthetic, max(1, high))
      return min(max(0, low), upper - 1)..<upper
    }
    // The first row reaches the beginning and the last one the end.
    if let first = ranges.first { ranges[0] = 0..<first.upperBound }
    if let last = ranges.last { ranges[ranges.count - 1] = last.lowerBound..<synthetic }
    return ranges
  }

  /// For each frame of the recording the one of the voice, on straight lines between the anchors.
  private func synthetics(upTo recording: Int, _ synthetic: Int) -> [Int] {
    let met = stride(from: 0, to: anchors.count - 1, by: 2).map {
      (recording: anchors[$0], synthetic: anchors[$0 + 1])
    }
    let all = [(recording: 0, synthetic: 0)] + met + [(recording, synthetic)]
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
