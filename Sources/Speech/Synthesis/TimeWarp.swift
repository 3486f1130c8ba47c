/// The path through two sequences of spectra that resemble each other in their order but not in
/// their speed: dynamic time warping (Sakoe and Chiba 1978), symmetric, in which stretches of
/// either may be left out.
///
/// What is left out costs `opening` once and `skip` a frame; frames that are silent may stand still
/// at the price of `silence`. So a path is never worse than what it would cost to leave out what
/// does not fit.
struct TimeWarp {
  /// Prices, in the distance that frames of different sounds have on average.
  struct Prices: Hashable {
    /// Of a frame that is left out.
    var skip: Float
    /// Of beginning to leave out.
    var opening: Float
    /// Of a silent frame that meets no frame of its own.
    var silence: Float
    /// Of a frame before the other sequence begins or after it has ended.
    var edge: Float

    /// What costs between the mean distance of the same words, 0.28 for a person against the
    /// synthesiser, and what words that only stand still would cost, about 0.6.
    static let usual = Prices(skip: 0.45, opening: 12, silence: 0.2, edge: 0.4)
  }

  /// Which frames of one sequence meet which of another.
  struct Path: Hashable {
    /// For each frame of the second sequence the frames of the first that it meets; nil where it is
    /// left out, or silent and passed over.
    private(set) var frames: [ClosedRange<Int>?]
    /// What the whole path costs.
    var cost: Float = .infinity

    init(count: Int) { frames = Array(repeating: nil, count: count) }

    /// Two frames meet.
    mutating func meet(_ first: Int, _ second: Int) {
      guard let known = frames[second] else {
        frames[second] = first...first
        return
      }
      frames[second] = min(known.lowerBound, first)...max(known.upperBound, first)
    }
  }

  let first: CepstralFrames
  let second: CepstralFrames
  /// For each frame of the first sequence those of the second that it may meet; lower bounds and upper
  /// bounds never fall.
  let band: [Range<Int>]
  let prices: Prices

  /// The cheapest path.
  ///
  /// Rows are kept at every `interval`th frame only, and what lies between is computed once more on
  /// the backtrace. Complexity: O(cells of the band) in time, twice; O(√*n* · width) in memory.
  func path() -> Path {
    let (rows, columns) = (first.vectors.count, second.vectors.count)
    var path = Path(count: columns)
    guard rows > 0, columns > 0 else { return path }
    let interval = max(16, Int(Double(rows).squareRoot()))
    var kept: [[Cell]] = []
    let row = lastRow { index, row in
      if index % interval == 0 { kept.append(Array(row[keptPlaces(at: index)])) }
    }
    var distances = [Float](repeating: 0, count: columns)
    var moves: [UInt8] = []
    var place = end(of: row)
    path.cost = place.cost
    for block in kept.indices.reversed() {
      let start = block * interval
      let stop = min(rows, start + interval)
      var row = restored(kept[block], at: start)
      moves.removeAll(keepingCapacity: true)
      var offsets: [Int] = []
      for index in start..<stop {
        offsets.append(moves.count)
        advance(&row, to: index, &distances, &moves, keepsMoves: true)
      }
      trace(&place, downTo: start, moves, offsets, into: &path)
    }
    return path
  }

  /// What the cheapest path costs. Complexity: O(cells of the band) in time, O(width) in memory.
  func cost() -> Float {
    guard !first.vectors.isEmpty, !second.vectors.isEmpty else { return .infinity }
    return end(of: lastRow { _, _ in }).cost
  }

  /// The last row; each row before is handed over before it is replaced by the one with the number.
  private func lastRow(_ hand: (Int, [Cell]) -> Void) -> [Cell] {
    var row = startRow()
    var distances = [Float](repeating: 0, count: second.vectors.count)
    var moves: [UInt8] = []
    for index in first.vectors.indices {
      hand(index, row)
      advance(&row, to: index, &distances, &moves, keepsMoves: false)
    }
    return row
  }
}

/// The path back from the end, by how each cell was come to.
extension TimeWarp {
  /// Where the backtrace is: a cell, and which of its three states.
  struct Place {
    var row: Int
    var column: Int
    var state: State
    var cost: Float

    enum State { case met, leavingFirst, leavingSecond }
  }

  /// Where the cheapest path ends.
  func end(of row: [Cell]) -> Place {
    let last = row[second.vectors.count]
    let costs = [last.met, last.leavingFirst, last.leavingSecond]
    let cost = costs.min() ?? .infinity
    let state: Place.State =
      cost == costs[0] ? .met : cost == costs[1] ? .leavingFirst : .leavingSecond
    return Place(
      row: first.vectors.count - 1, column: second.vectors.count - 1, state: state, cost: cost)
  }

  /// Goes back through the rows of a block.
  func trace(
    _ place: inout Place, downTo start: Int, _ moves: [UInt8], _ offsets: [Int],
    into path: inout Path
  ) {
    while place.row >= start, place.column >= 0 {
      let range = band[place.row]
      guard range.contains(place.column) else { return }
      let move = moves[offsets[place.row - start] + place.column - range.lowerBound]
      switch place.state {
      case .met:
        let kind = move & Move.metMask
        if kind != Move.firstSilent && kind != Move.secondSilent {
          path.meet(place.row, place.column)
        }
        switch kind {
        case Move.first, Move.firstSilent: place.row -= 1
        case Move.second, Move.secondSilent: place.column -= 1
        default:
          place.row -= 1
          place.column -= 1
        }
        if kind == Move.afterFirst { place.state = .leavingFirst }
        if kind == Move.afterSecond { place.state = .leavingSecond }
      case .leavingFirst:
        if move & Move.firstOpens != 0 { place.state = .met }
        place.row -= 1
      case .leavingSecond:
        if move & Move.secondOpens != 0 { place.state = .met }
        if move & Move.secondAfterFirst != 0 { place.state = .leavingFirst }
        place.column -= 1
      }
    }
  }
}

/// The rows of the path's costs, of which only the last one is kept.
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
    for column in 0..<(band.first?.upperBound ?? 0) {
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
    let range = band[max(0, index - 1)]
    return range.lowerBound..<range.upperBound + 1
  }

  /// Computes a row from the one before, in place.
  func advance(
    _ row: inout [Cell], to index: Int, _ distances: inout [Float], _ moves: inout [UInt8],
    keepsMoves: Bool
  ) {
    let range = band[index]
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
