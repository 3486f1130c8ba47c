/// Where the blocks of a text are in a recording, roughly.
///
/// Both are compared as a whole, in frames of 80 ms: what is missing in either is left out here.
struct CoarseLook {
  /// Fine frames in a coarse one.
  static let thinning = 8
  /// How many pairs of frames are compared: 25 minutes with 25 minutes anywhere, an hour with an hour
  /// within six minutes of the diagonal.
  private static let mostPairs = 400_000_000
  /// However long both are, the way may leave the diagonal by four minutes.
  private static let leastWidth = 6000
  /// So much beside what was found may belong to a block, in hundredths of a second.
  private static let margin = 150
  /// From anchor to anchor, in coarse frames.
  private static let anchorStep = 12

  let recording: BandPowers
  /// The blocks, each by itself.
  let blocks: [BandPowers]
  /// The length of the recording in hundredths of a second.
  let hundredths: Int

  /// The place of each block.
  ///
  /// Complexity: O(pairs) in time, O(√*n* · *n*) in memory.
  func places() -> [SyntheticPlace] {
    var voice = BandPowers.none
    for block in blocks { voice.append(block) }
    guard recording.count > 0, voice.count > 0 else {
      return blocks.map { _ in SyntheticPlace(place: nil, anchors: []) }
    }
    let pair = CepstralFrames.pair(recording: recording, synthetic: voice)
    let path = TimeWarp(
      first: pair.recording, second: pair.synthetic,
      band: Self.band(recording.count, voice.count), prices: Self.prices
    ).path()
    var start = 0
    return blocks.map { block in
      defer { start += block.count }
      return place(of: start..<start + block.count, on: path)
    }
  }

  /// As for fine frames, but that to begin leaving out costs as much for as many seconds.
  private static var prices: TimeWarp.Prices {
    var prices = TimeWarp.Prices.usual
    prices.opening = 6
    prices.skip = 0.8
    prices.edge = 0.6
    return prices
  }

  private static func band(_ rows: Int, _ columns: Int) -> TimeWarp.Band {
    let width = min(columns, max(leastWidth, mostPairs / rows))
    return TimeWarp.Band(
      ranges: (0..<rows).map { row in
        let middle = columns * row / max(1, rows - 1)
        let low = min(max(0, middle - width / 2), columns - width)
        return low..<low + width
      })
  }

  private func place(of frames: Range<Int>, on path: WarpPath) -> SyntheticPlace {
    let met = frames.compactMap { frame in path.frames[frame].map { (frame, $0) } }
    guard let first = met.first?.1.lowerBound, let last = met.last?.1.upperBound else {
      return SyntheticPlace(place: nil, anchors: [])
    }
    let start = max(0, first * Self.thinning - Self.margin)
    let end = min(hundredths, (last + 1) * Self.thinning + Self.margin)
    guard start < end else { return SyntheticPlace(place: nil, anchors: []) }
    var anchors: [Int] = []
    for (index, (frame, meets)) in met.enumerated()
    where index % Self.anchorStep == 0 || index + 1 == met.count {
      let middle = (meets.lowerBound + meets.upperBound + 1) * Self.thinning / 2
      anchors += [middle - start, (frame - frames.lowerBound) * Self.thinning + Self.thinning / 2]
    }
    return SyntheticPlace(place: start..<end, anchors: anchors)
  }
}
