@testable import Audio
import TestSupport
import Testing

@Suite struct PeakHoldTests {
  /// The definition, in the plainest words.
  private func held(_ levels: [Float], window: Int) -> [Float] {
    levels.indices.map { levels[max(0, $0 - window + 1)...$0].max() ?? 0 }
  }

  /// Mostly falling levels, with bursts: whole groups and single levels both decide now and then.
  private func levels(_ count: Int) -> [Float] {
    var random = SeededRandom(seed: 5)
    return (0..<count).map { index in
      Float.random(in: 0...1, using: &random) * (index / 700 % 3 == 1 ? 1 : 0.1)
        * (1 - Float(index % 1900) / 2000)
    }
  }

  private func hold(_ levels: [Float], _ hold: PeakHold, cuts: [Int]) -> [Float] {
    let room = Scratch<Float>(repeating: 0, count: levels.count)
    for (index, level) in levels.enumerated() { room[index] = level }
    var (start, turn) = (0, 0)
    while start < levels.count {
      let count = min(cuts[turn % cuts.count], levels.count - start)
      unsafe hold.hold(room.start + start, count: count)
      start += count
      turn += 1
    }
    return levels.indices.map { room[$0] }
  }

  @Test(
    arguments: [(48_000.0, 480), (44_100, 448), (8000, 80), (192_000, 1920), (1, 16)],
    [[512], [1], [7, 16, 64, 3], [100, 512, 15]])
  func `is the greatest of the last 10 ms, however the levels are cut`(
    rate: (hertz: Double, window: Int), cuts: [Int]
  ) {
    let hold = PeakHold(sampleRate: Hertz(rate.hertz))
    #expect(hold.window == rate.window)
    let levels = levels(6000)
    #expect(self.hold(levels, hold, cuts: cuts) == held(levels, window: rate.window))
  }

  @Test func `goes on from a snapshot as if nothing had happened`() throws {
    let levels = levels(3000)
    let first = PeakHold(sampleRate: Hertz(48_000))
    let head = hold(Array(levels[..<1234]), first, cuts: [97])
    let snapshot = StateCoder.snapshot { (coder) throws(SnapshotError) in try first.code(&coder) }
    let second = PeakHold(sampleRate: Hertz(48_000))
    try StateCoder.restore(snapshot) { (coder) throws(SnapshotError) in try second.code(&coder) }
    let tail = hold(Array(levels[1234...]), second, cuts: [64])
    #expect(head + tail == held(levels, window: 480))
  }
}
