@testable import SoundEngine
import Testing

@Suite struct JournalScheduleTests {
  private let interval = Duration.milliseconds(500)

  @Test func `the writing of an entry is part of the interval`() {
    for milliseconds in [0, 20, 300, 450] {
      let duration = Duration.milliseconds(milliseconds)
      #expect(PassJournal.pause(after: duration, every: interval) + duration == interval)
    }
  }

  @Test func `longer entries follow each other with a short rest, at most 2 s apart`() {
    for milliseconds in [460, 500, 1900] {
      #expect(
        PassJournal.pause(after: .milliseconds(milliseconds), every: interval) == .milliseconds(50))
    }
  }
}
