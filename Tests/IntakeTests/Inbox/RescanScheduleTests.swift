@testable import Intake
import Testing

@Suite("When the whole inbox is looked through")
struct RescanScheduleTests {
  @Test("at once, then rarely where events come and often where they do not")
  func pauses() {
    var schedule = RescanSchedule()
    #expect(schedule.isDue(at: .zero))
    schedule.record(cost: .zero, hasEvents: true, at: .seconds(10))
    #expect(schedule.wait(at: .seconds(10)) == .seconds(60) && !schedule.isDue(at: .seconds(69)))
    schedule.record(cost: .zero, hasEvents: false, at: .seconds(70))
    #expect(schedule.isDue(at: .seconds(72)) && schedule.wait(at: .seconds(99)) == .zero)
  }

  @Test("never oftener than its share of a core allows")
  func share() {
    var schedule = RescanSchedule()
    schedule.record(cost: .milliseconds(500), hasEvents: false, at: .seconds(10))
    #expect(schedule.wait(at: .seconds(10)) == .seconds(200))
    schedule.ask()
    #expect(schedule.isDue(at: .seconds(10)))
  }
}
