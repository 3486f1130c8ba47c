@testable import Speech
import TestSupport
import Testing

@Suite("The way on which two sequences resemble each other") struct TimeWarpTests {
  @Test("what is said slower or faster is followed frame by frame")
  func speeds() {
    var random = SeededRandom(seed: 3)
    let voice = frames(60, &random)
    // Each frame one to three times.
    let counts = (0..<60).map { _ in Int(random.next() % 3) + 1 }
    let recording = CepstralFrames(
      vectors: zip(voice.vectors, counts).flatMap { Array(repeating: $0, count: $1) },
      isSilent: Array(repeating: false, count: counts.reduce(0, +)))
    let path = warp(recording, voice).path()
    var place = 0
    for (frame, count) in counts.enumerated() {
      #expect(path.frames[frame] == place...place + count - 1)
      place += count
    }
    #expect(path.cost == 0)
  }

  @Test("it is the cheapest of all ways", arguments: 1...12)
  func optimal(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    // Long enough for several stretches of kept rows.
    let recording = frames(Int(random.next() % 40) + 1, &random)
    let voice = frames(Int(random.next() % 25) + 1, &random)
    let prices = TimeWarp.Prices(
      skip: 0.3 + Float(random.next() % 5) / 10, opening: Float(random.next() % 4),
      silence: 0.2, edge: 0.4)
    let warp = warp(recording, voice, prices)
    var reference = CheapestWay(recording, voice, prices)
    let cheapest = reference.cost()
    #expect(abs(Double(warp.cost()) - cheapest) < 1e-3 * (1 + cheapest))
    #expect(warp.path().cost == warp.cost())
  }

  @Test("both orders are kept, and what meets is told once", arguments: 1...6)
  func order(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let path = warp(frames(200, &random), frames(150, &random)).path()
    let met = path.frames.compactMap(\.self)
    #expect(zip(met, met.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
    #expect(met.allSatisfy { (0..<200).contains($0.lowerBound) && $0.upperBound < 200 })
  }

  @Test("a passage that only one of them has is left out")
  func gaps() {
    var random = SeededRandom(seed: 9)
    let voice = frames(200, &random)
    let other = frames(80, &random)
    func joined(_ parts: [ArraySlice<CepstralFrames.Vector>]) -> CepstralFrames {
      let vectors = Array(parts.joined())
      return CepstralFrames(
        vectors: vectors, isSilent: Array(repeating: false, count: vectors.count))
    }
    let extra = joined([voice.vectors[..<100], other.vectors[...], voice.vectors[100...]])
    let longer = warp(extra, voice).path()
    for frame in 0..<100 { #expect(longer.frames[frame] == frame...frame) }
    for frame in 100..<200 { #expect(longer.frames[frame] == frame + 80...frame + 80) }
    let lacking = joined([voice.vectors[..<60], voice.vectors[140...]])
    let shorter = warp(lacking, voice).path()
    for frame in 0..<60 { #expect(shorter.frames[frame] == frame...frame) }
    for frame in 60..<140 { #expect(shorter.frames[frame] == nil) }
    for frame in 140..<200 { #expect(shorter.frames[frame] == frame - 80...frame - 80) }
  }

  @Test("a band around the way changes nothing, and nothing has no way")
  func bands() {
    var random = SeededRandom(seed: 4)
    let voice = frames(300, &random)
    let full = warp(voice, voice)
    let guide = SyntheticProgress.Place(place: 0..<300, anchors: [100, 100, 200, 200])
    let narrow = TimeWarp(
      first: voice, second: voice, band: guide.band(recording: 300, synthetic: 300),
      prices: .usual)
    #expect(full.path() == narrow.path())
    let nothing = CepstralFrames(vectors: [], isSilent: [])
    #expect(warp(nothing, voice).path().frames.allSatisfy { $0 == nil })
    #expect(warp(voice, nothing).path().frames.isEmpty)
  }

  private func warp(
    _ recording: CepstralFrames, _ voice: CepstralFrames, _ prices: TimeWarp.Prices = .usual
  ) -> TimeWarp {
    let ranges = recording.vectors.map { _ in 0..<voice.vectors.count }
    return TimeWarp(
      first: recording, second: voice, band: ranges, prices: prices)
  }

  private func frames(_ count: Int, _ random: inout SeededRandom) -> CepstralFrames {
    var vectors: [CepstralFrames.Vector] = []
    var isSilent: [Bool] = []
    for _ in 0..<count {
      var vector = CepstralFrames.Vector()
      for index in vector.indices {
        // As much from each other on average as frames of different sounds.
        vector[index] = (Float(random.next() % 2001) / 1000 - 1) * 0.3
      }
      vectors.append(vector)
      isSilent.append(random.next() % 4 == 0)
    }
    return CepstralFrames(vectors: vectors, isSilent: isSilent)
  }
}

/// The cheapest way by trying every step from every place, straight from what the prices mean.
private struct CheapestWay {
  private enum State: Int { case meeting, leavingFirst, leavingSecond }

  private let first: CepstralFrames
  private let second: CepstralFrames
  private let prices: TimeWarp.Prices
  private var known: [Double?]

  init(_ first: CepstralFrames, _ second: CepstralFrames, _ prices: TimeWarp.Prices) {
    (self.first, self.second, self.prices) = (first, second, prices)
    known = Array(
      repeating: nil, count: 3 * (first.vectors.count + 1) * (second.vectors.count + 1))
  }

  mutating func cost() -> Double { rest(0, 0, .meeting) }

  /// What it costs to go on when so many frames of either have been passed.
  private mutating func rest(_ row: Int, _ column: Int, _ state: State) -> Double {
    let (rows, columns) = (first.vectors.count, second.vectors.count)
    if row == rows, column == columns { return 0 }
    let key = (row * (columns + 1) + column) * 3 + state.rawValue
    if let known = known[key] { return known }
    // Before the other sequence has begun and after it has ended nothing is opened.
    let firstIsAtEdge = column == 0 || column == columns
    let secondIsAtEdge = row == 0 || row == rows
    var best = Double.infinity
    if row < rows, column < columns {
      best = rest(row + 1, column + 1, .meeting) + 2 * distance(row, column)
    }
    if state == .meeting, row > 0, column > 0 {
      if row < rows {
        var price = distance(row, column - 1)
        if first.isSilent[row] { price = min(price, Double(prices.silence)) }
        best = min(best, rest(row + 1, column, .meeting) + price)
      }
      if column < columns {
        var price = distance(row - 1, column)
        if second.isSilent[column] { price = min(price, Double(prices.silence)) }
        best = min(best, rest(row, column + 1, .meeting) + price)
      }
    }
    if row < rows, state != .leavingSecond {
      let opening = state == .leavingFirst || firstIsAtEdge ? 0 : Double(prices.opening)
      let price = Double(firstIsAtEdge ? prices.edge : prices.skip)
      best = min(best, rest(row + 1, column, .leavingFirst) + price + opening)
    }
    if column < columns {
      let changes = state == .leavingFirst
      let opening =
        changes
        ? Double(prices.opening)
        : state == .leavingSecond || secondIsAtEdge ? 0 : Double(prices.opening)
      let price = Double(secondIsAtEdge ? prices.edge : prices.skip)
      best = min(best, rest(row, column + 1, .leavingSecond) + price + opening)
    }
    known[key] = best
    return best
  }

  private func distance(_ row: Int, _ column: Int) -> Double {
    var sum = 0.0
    for index in CepstralFrames.Vector().indices {
      let difference = Double(first.vectors[row][index] - second.vectors[column][index])
      sum += difference * difference
    }
    return sum
  }
}
