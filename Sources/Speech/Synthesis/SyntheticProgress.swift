/// How far an alignment with a synthetic voice is. Interrupted work resumes from it with the same
/// result.
package struct SyntheticProgress: Hashable, Sendable, Codable {
  /// Which share of the coarse look is done: 0 to 1.
  var surveyed = 0.0
  /// Where each block of the text was found; nil where there is no plan yet.
  var plan: [SyntheticPlace]?
  /// What came of aligning each block; nil where that is not known yet.
  var outcomes: [SyntheticOutcome?] = []

  /// How much of the work is done: 0 to 1.
  package var share: Double {
    guard plan != nil, !outcomes.isEmpty else { return 0.5 * surveyed }
    return 0.5 + 0.5 * Double(outcomes.count { $0 != nil }) / Double(outcomes.count)
  }

  package init() {}
}

/// Where a block of the text was found at a coarse look.
struct SyntheticPlace: Hashable, Codable {
  /// When it begins and ends, in frames (10 ms) of the recording; nil where it is not there.
  let place: Range<Int>?
  /// Hundredths of the place and of the synthetic voice's block that meet, by turns.
  let anchors: [Int]

  /// What a closer look is guided by.
  var guide: WarpGuide {
    WarpGuide(stride(from: 0, to: anchors.count - 1, by: 2).map { (anchors[$0], anchors[$0 + 1]) })
  }
}

/// The result of aligning a block. All figures are whole numbers, so that what was recorded is what
/// was found.
struct SyntheticOutcome: Hashable, Codable {
  /// The words that were found, each with its number in the text, its beginning and its end in
  /// frames (10 ms) of the recording, and its distance in thousandths.
  var words: [[Int]] = []
  /// What the path costs, in hundredths.
  var cost = 0
  /// What the path costs through the same speech backwards.
  var chance = 0
}
