import Testing

@testable import Delivery

@Suite("What failed is tried again like a mail server's mail")
struct DeliveryScheduleTests {
  private let schedule = DeliverySchedule()

  private func pauses(_ count: Int) -> [Double] {
    (1...count).map { schedule.pause(after: $0, chance: 0.5) }
  }

  @Test("three quick tries, then a minute, which doubles up to six hours, for ever")
  func pauses() {
    #expect(pauses(6) == [2, 4, 8, 60, 120, 240])
    #expect(schedule.pause(after: 12, chance: 0.5) == 60 * 256)
    #expect(schedule.pause(after: 13, chance: 0.5) == 6 * 3600)
    #expect(schedule.pause(after: 1_000_000, chance: 0.5) == 6 * 3600)
    #expect(schedule.pause(after: 0, chance: 0.5) == 2)
  }

  @Test("a destination that fails itself is looked at after 5 seconds, then less often")
  func holds() {
    let holds = (1...4).map { schedule.hold(after: $0, chance: 0.5) }
    #expect(holds == [5, 10, 20, 40])
    #expect(schedule.hold(after: 100, chance: 0.5) == 6 * 3600)
    #expect(schedule.hold(after: 100, chance: 0.5, isAway: true) == 300)
  }

  @Test("pauses vary by a tenth, so that failures are not repeated together")
  func jitter() {
    #expect(schedule.pause(after: 4, chance: 0) == 54)
    #expect(schedule.pause(after: 4, chance: 1) == 66)
    #expect(schedule.hold(after: 1, chance: 7) == 5.5)
  }

  @Test("a server may ask for a longer pause, and not for one without an end")
  func asked() {
    #expect(schedule.pause(after: 1, chance: 0.5, asked: 30) == 30)
    #expect(schedule.pause(after: 5, chance: 0.5, asked: 30) == 120)
    #expect(schedule.pause(after: 1, chance: 0.5, asked: 1e9) == 6 * 3600)
    #expect(schedule.pause(after: 1, chance: 0.5, asked: -5) == 2)
    #expect(schedule.hold(after: 1, chance: 0.5, asked: .infinity) == 6 * 3600)
  }
}
