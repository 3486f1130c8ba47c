/// The way through two sequences of spectra that resemble each other in their order but not in their
/// speed: dynamic time warping (Sakoe and Chiba 1978), symmetric, in which stretches of either may
/// be left out.
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

  /// Which frames of the second sequence may meet a frame of the first.
  struct Band {
    /// For each frame of the first sequence; lower bounds and upper bounds never fall.
    let ranges: [Range<Int>]
  }

  let first: CepstralFrames
  let second: CepstralFrames
  let band: Band
  let prices: Prices

  /// The cheapest way.
  ///
  /// Rows are kept at every `interval`th frame only, and what lies between is computed once more on
  /// the way back. Complexity: O(cells of the band) in time, twice; O(√*n* · width) in memory.
  func path() -> WarpPath {
    let (rows, columns) = (first.vectors.count, second.vectors.count)
    var path = WarpPath(count: columns)
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

  /// What the cheapest way costs. Complexity: O(cells of the band) in time, O(width) in memory.
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
