/// Words that two rows of words have in common at the same end, one after the other: what is said
/// again seldom is heard without a mistake.
///
/// Global alignment (Needleman and Wunsch 1970) from one end on, until too much differs.
struct Echo {
  /// The numbers of equal words in either row, from the common end on.
  private(set) var pairs: [(ours: Int, theirs: Int)] = []

  /// What an equal word counts, and one that only one of both rows has.
  private static let equal = 3
  private static let skipped = 2
  /// So much may be lost before the search ends.
  private static let drop = 40
  /// Of longer rows, only so many words are looked at.
  private static let longest = 300

  /// Compares rows from their beginnings on, or from their ends.
  ///
  /// Complexity: O(*n* · *m*), with rows of no more than 300 words.
  init(
    _ ours: ArraySlice<String>, _ theirs: ArraySlice<String>, fromEnds: Bool
  ) {
    func place(_ number: Int, in row: ArraySlice<String>) -> Int {
      fromEnds ? row.endIndex - number : row.startIndex + number - 1
    }
    let height = min(ours.count, Self.longest)
    let columns = min(theirs.count, Self.longest) + 1
    var scores = (0..<columns).map { -$0 * Self.skipped }
    var best = (score: 0, row: 0, column: 0)
    for row in stride(from: 1, through: height, by: 1) {
      let word = ours[place(row, in: ours)]
      let above = (row - 1) * columns
      scores.append(-row * Self.skipped)
      var rowBest = Int.min
      for column in stride(from: 1, to: columns, by: 1) {
        var score = max(scores[above + column], scores[above + columns + column - 1]) - Self.skipped
        if word == theirs[place(column, in: theirs)] {
          score = max(score, scores[above + column - 1] + Self.equal)
        }
        scores.append(score)
        rowBest = max(rowBest, score)
        if score > best.score { best = (score, row, column) }
      }
      if rowBest < best.score - Self.drop { break }
    }
    var (row, column) = (best.row, best.column)
    while row > 0, column > 0 {
      let here = scores[row * columns + column]
      let (oursPlace, theirsPlace) = (place(row, in: ours), place(column, in: theirs))
      if ours[oursPlace] == theirs[theirsPlace],
        here == scores[(row - 1) * columns + column - 1] + Self.equal
      {
        pairs.append((oursPlace, theirsPlace))
        row -= 1
        column -= 1
      } else if here == scores[(row - 1) * columns + column] - Self.skipped {
        row -= 1
      } else {
        column -= 1
      }
    }
    pairs.reverse()
  }
}
