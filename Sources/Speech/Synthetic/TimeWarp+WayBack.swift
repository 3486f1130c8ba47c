/// The way back from the end, by how each cell was come to.
extension TimeWarp {
  /// Where the way back is: a cell, and which of its three states.
  struct Place {
    var row: Int
    var column: Int
    var state: State
    var cost: Float

    enum State { case met, leavingFirst, leavingSecond }
  }

  /// Where the cheapest way ends.
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
    into path: inout WarpPath
  ) {
    while place.row >= start, place.column >= 0 {
      let range = band.ranges[place.row]
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
