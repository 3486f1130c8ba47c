/// Words of which there are two readings: a sequence has them once, and the other one again and
/// again.
///
/// A sentence that is written once and said twice, or begun twice, leaves open from which reading
/// each word is to be taken: as many are found if the first words are of the first reading and the
/// others of the second. All of them are taken from one: from the one in which more of them are
/// found, and from the later one of two as good as each other, which the speaker lets stand.
struct RepeatedReadings {
  /// For each word of the sequence that has them once, the number of the same word of the other
  /// one.
  private(set) var matches: [Int?]
  /// The words that are the first behind a reading that was left out, and the last of their words
  /// that is of that one.
  private(set) var seams: [Int: Int] = [:]
  /// Words that are found twice beside others that are not of the sequence: which of them are meant
  /// is unknown.
  private(set) var doubtful: Set<Int> = []

  /// So many words, found one after the other, are not the same by chance.
  private static let row = 3
  /// So many words beside a gap are looked for in it.
  private static let neighbours = 12

  private let ours: [String]
  private let theirs: [String]

  /// Decides for one reading wherever there are several.
  ///
  /// - Parameters:
  ///   - ours: the words of the sequence that has them once.
  ///   - theirs: those of the other one.
  ///   - matches: for each of our words, which of theirs it is; the numbers rise.
  ///   - isRepetition: whether a range of theirs of which no word is matched holds other readings
  ///     of ours, and hardly anything else; the second argument tells which of them stand there as
  ///     they do among ours.
  ///   - isBeginning: whether a reading can begin with one of their words.
  init(
    of ours: [String], in theirs: [String], matches: [Int?],
    isRepetition: (Range<Int>, [Int]) -> Bool, isBeginning: (Int) -> Bool
  ) {
    self.ours = ours
    self.theirs = theirs
    self.matches = matches
    var last: Int?
    for word in ours.indices {
      guard let place = self.matches[word] else { continue }
      defer { last = word }
      guard let before = last, let placeBefore = self.matches[before],
        place - placeBefore > word - before
      else { continue }
      resolve(before, word, placeBefore + 1..<place, isRepetition, isBeginning)
    }
  }

  /// Decides where to leap over words of theirs between two words of ours.
  private mutating func resolve(
    _ before: Int, _ after: Int, _ gap: Range<Int>, _ isRepetition: (Range<Int>, [Int]) -> Bool,
    _ isBeginning: (Int) -> Bool
  ) {
    let back = Self.common(ours[..<after], theirs[gap], fromEnds: true)
    let fore = Self.common(ours[(before + 1)...], theirs[gap], fromEnds: false)
    let start = back.last?.ours ?? after
    let end = max(start, (fore.last?.ours ?? before) + 1)
    let found = Set(echoes(of: start..<end, in: gap)).union((back + fore).map(\.theirs))
    guard start < end, isRepetition(gap, found.sorted()) else {
      doubtful.formUnion(start..<end)
      doubt(before, after, gap)
      return
    }
    let later = back.count + matches[min(after, end)..<end].count { $0 != nil }
    let earlier = matches[min(start, before + 1)..<before + 1].count { $0 != nil } + fore.count
    let next = matches[max(end, after)...].first { $0 != nil } ?? nil
    if later >= earlier || !(next.map(isBeginning) ?? true) {
      for word in start..<after { matches[word] = nil }
      for pair in back { matches[pair.ours] = pair.theirs }
      record(start, behind: start..<end)
    } else {
      for word in before + 1..<end { matches[word] = nil }
      for pair in fore { matches[pair.ours] = pair.theirs }
      record(end, behind: start..<end)
    }
  }

  /// Doubts the words beside a gap of which a few are found in it once more, one after the other: the
  /// others may have been said there, too, and not understood.
  private mutating func doubt(_ before: Int, _ after: Int, _ gap: Range<Int>) {
    guard gap.count >= Self.row else { return }
    let tail = max(0, before + 1 - Self.neighbours)..<before + 1
    let head = after..<min(ours.count, after + Self.neighbours)
    for place in gap.lowerBound...gap.upperBound - Self.row {
      let row = theirs[place..<place + Self.row]
      for word in tail.dropLast(Self.row - 1) where row.elementsEqual(ours[word..<word + Self.row])
      {
        doubtful.formUnion(word..<tail.upperBound)
      }
      for word in head.dropLast(Self.row - 1) where row.elementsEqual(ours[word..<word + Self.row])
      {
        doubtful.formUnion(head.lowerBound..<word + Self.row)
      }
    }
  }

  /// Notes that a reading begins with a word.
  private mutating func record(_ seam: Int, behind words: Range<Int>) {
    guard let place = matches[seam...].first(where: { $0 != nil }), let place,
      let before = matches[..<seam].last(where: { $0 != nil }), let before
    else { return }
    let gap = before + 1..<max(place, before + 1)
    seams[seam] = echoes(of: words, in: gap).last ?? before
  }

  /// Which words of theirs stand there as they do among ours: one with its neighbour.
  private func echoes(of words: Range<Int>, in gap: Range<Int>) -> [Int] {
    guard words.count > 1 else { return gap.filter { theirs[$0] == ours[words.lowerBound] } }
    let pairs = Set(words.dropLast().map { ours[$0...$0 + 1] })
    var isEcho = Array(repeating: false, count: gap.count)
    for place in gap.dropLast() where pairs.contains(theirs[place...place + 1]) {
      isEcho[place - gap.lowerBound] = true
      isEcho[place + 1 - gap.lowerBound] = true
    }
    return gap.filter { isEcho[$0 - gap.lowerBound] }
  }
}

/// Words that two sequences of words have in common at the same end, one after the other: what is
/// said again seldom is heard without a mistake.
///
/// Global alignment (Needleman and Wunsch 1970) from one end on, until too much differs.
extension RepeatedReadings {
  /// What an equal word counts, and one that only one of both sequences has.
  private static let equal = 3
  private static let skipped = 2
  /// So much may be lost before the search ends.
  private static let drop = 40
  /// Of longer sequences, only so many words are looked at.
  private static let longest = 300

  /// The numbers of equal words in either sequence, from their beginnings on or from their ends.
  ///
  /// Complexity: O(*n* · *m*), with sequences of no more than 300 words.
  private static func common(
    _ ours: ArraySlice<String>, _ theirs: ArraySlice<String>, fromEnds: Bool
  ) -> [(ours: Int, theirs: Int)] {
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
    var pairs: [(ours: Int, theirs: Int)] = []
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
    return pairs.reversed()
  }
}
