@testable import SoundEngine
@testable import Stages
import Testing

@Suite struct NoteRhythmTests {
  private let rhythm = JournalSchedule(interval: .milliseconds(500))

  @Test func `what a note takes does not come on top of the interval`() {
    for milliseconds in [0, 20, 300, 450] {
      let duration = Duration.milliseconds(milliseconds)
      #expect(rhythm.pause(after: duration) + duration == rhythm.interval)
    }
  }

  @Test func `notes that take longer follow each other with a short rest, at most 2 s apart`() {
    for milliseconds in [460, 500, 1900] {
      #expect(rhythm.pause(after: .milliseconds(milliseconds)) == .milliseconds(50))
    }
  }
}
