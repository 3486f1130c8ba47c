/// The rows of the way's costs, of which only the last one is kept.
extension TimeWarp {
  /// What it costs to come to a cell: having met, leaving out the first sequence, and the second.
  struct Cell {
    var met = Float.infinity
    var leavingFirst = Float.infinity
    var leavingSecond = Float.infinity
  }

  /// How a cell was come to: the low three bits how the frames met, then a bit and two bits for the
  /// two ways of leaving out.
  enum Move {
    static let diagonal: UInt8 = 0
    static let first: UInt8 = 1
    static let second: UInt8 = 2
    static let firstSilent: UInt8 = 3
    static let secondSilent: UInt8 = 4
    static let afterFirst: UInt8 = 5
    static let afterSecond: UInt8 = 6
    static let metMask: UInt8 = 7
    static let firstOpens: UInt8 = 8
    static let secondOpens: UInt8 = 16
    static let secondAfterFirst: UInt8 = 32
  }

  /// Before the first frame of the first sequence: frames of the second may be left out. Place
  /// `column + 1` is that of a column; place 0 is before the second sequence begins.
  func startRow() -> [Cell] {
    var row = emptyRow()
    row[0].met = 0
    for column in 0..<(band.ranges.first?.upperBound ?? 0) {
      row[column + 1].leavingSecond = Float(column + 1) * prices.edge
    }
    return row
  }

  private func emptyRow() -> [Cell] {
    Array(repeating: Cell(), count: second.vectors.count + 1)
  }

  func restored(_ kept: [Cell], at index: Int) -> [Cell] {
    var row = emptyRow()
    row.replaceSubrange(keptPlaces(at: index), with: kept)
    return row
  }

  /// The places of the row before `index` that hold anything.
  func keptPlaces(at index: Int) -> Range<Int> {
    let range = band.ranges[max(0, index - 1)]
    return range.lowerBound..<range.upperBound + 1
  }

  /// Computes a row from the one before, in place.
  func advance(
    _ row: inout [Cell], to index: Int, _ distances: inout [Float], _ moves: inout [UInt8],
    keepsMoves: Bool
  ) {
    let range = band.ranges[index]
    second.fill(&distances, range, distancesTo: first.vectors[index])
    let isSilent = first.isSilent[index]
    let isLastRow = index == first.vectors.count - 1
    let columns = second.vectors.count
    let silence = prices.silence
    let (skip, opening, edge) = (prices.skip, prices.opening, prices.edge)

    let base = moves.count
    if keepsMoves { moves.append(contentsOf: repeatElement(0, count: range.count)) }
    var cells = row.mutableSpan
    var written = moves.mutableSpan
    let distance = distances.span
    let silent = second.isSilent.span

    // What the row before has at the column before, and what this row has there.
    let before = range.lowerBound
    var diagonal = cells[before]
    var left = Cell()
    // The second sequence has not begun yet.
    if before == 0 { left.leavingFirst = min(diagonal.met, diagonal.leavingFirst) + edge }
    cells[before] = left
    for column in range {
      let above = cells[column + 1]
      let d = distance[column]
      var best = diagonal.met + 2 * d
      var move = Move.diagonal
      let down = above.met + d
      if down < best { (best, move) = (down, Move.first) }
      let across = left.met + d
      if across < best { (best, move) = (across, Move.second) }
      if isSilent {
        let cost = above.met + silence
        if cost < best { (best, move) = (cost, Move.firstSilent) }
      }
      if silent[column] {
        let cost = left.met + silence
        if cost < best { (best, move) = (cost, Move.secondSilent) }
      }
      let afterFirst = diagonal.leavingFirst + 2 * d
      if afterFirst < best { (best, move) = (afterFirst, Move.afterFirst) }
      let afterSecond = diagonal.leavingSecond + 2 * d
      if afterSecond < best { (best, move) = (afterSecond, Move.afterSecond) }

      let price = column == columns - 1 ? edge : skip
      var leaving = above.leavingFirst + price
      let begins = above.met + price + (column == columns - 1 ? 0 : opening)
      if begins < leaving {
        leaving = begins
        move |= Move.firstOpens
      }

      let step = isLastRow ? edge : skip
      var passing = left.leavingSecond + step
      let opens = left.met + step + (isLastRow ? 0 : opening)
      if opens < passing {
        passing = opens
        move |= Move.secondOpens
      }
      let changes = left.leavingFirst + step + opening
      if changes < passing {
        passing = changes
        move = (move & ~Move.secondOpens) | Move.secondAfterFirst
      }

      diagonal = above
      left = Cell(met: best, leavingFirst: leaving, leavingSecond: passing)
      cells[column + 1] = left
      if keepsMoves { written[base + column - range.lowerBound] = move }
    }
  }
}
