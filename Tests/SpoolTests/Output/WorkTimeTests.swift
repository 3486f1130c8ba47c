import Testing
@testable import spool

@Suite struct WorkTimeTests {
  @Test("as long as nobody notes anything, every second counts")
  func withoutNotes() {
    let time = WorkTime(at: 100)
    #expect(time.seconds(at: 100) == 0)
    #expect(time.seconds(at: 163.5) == 63.5)
  }

  @Test("a stretch without notes counts as the longest gap of a process that runs")
  func frozen() {
    let time = WorkTime(at: 100)
    for tick in 0...10 { time.record(at: 100 + Double(tick) * 0.25) }
    #expect(time.seconds(at: 102.75) == 2.75)
    // Whoever asks first after the pause gets the same answer as everybody afterwards.
    #expect(time.seconds(at: 500) == 2.5 + WorkTime.longestGap)
    time.record(at: 500)
    #expect(time.seconds(at: 500.25) == 2.5 + WorkTime.longestGap + 0.25)
  }

  @Test("it never goes back")
  func monotonic() {
    let time = WorkTime(at: 0)
    var last = 0.0
    for now in [0.1, 0.9, 1.5, 7, 7.1, 30, 30.2, 31.9] {
      #expect(time.seconds(at: now) >= last)
      last = time.seconds(at: now)
      if now != 7 { time.record(at: now) }
      #expect(time.seconds(at: now) >= last)
    }
  }
}
