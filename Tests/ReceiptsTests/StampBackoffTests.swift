@testable import Receipts
import Testing

@Suite("An authority that gave no token is asked again, ever more seldom")
struct StampBackoffTests {
  @Test("pauses double from a minute to six hours")
  func doubling() {
    let pauses = [1, 2, 3, 4, 9, 10, 40, 1_000_000].map { StampRound.pause(after: $0, chance: 0) }
    #expect(pauses == [60, 120, 240, 480, 15_360, 21_600, 21_600, 21_600])
  }

  @Test("what failed together is spread over a tenth of the pause")
  func spread() {
    #expect(StampRound.pause(after: 1, chance: 1) == 54)
    #expect(StampRound.pause(after: 2, chance: 0.5) == 114)
  }
}
