import PipelineModel
import Platform
@testable import Store
import Testing

@Suite("Trying a failed note again")
struct NoteRetryPolicyTests {
  private func change(
    _ cause: SpoolError.Cause, attempt: Int, policy: RetryPolicy = RetryPolicy()
  ) -> RecordingChange {
    policy.change(
      after: SpoolError("cannot read", reason: "busy", advice: "wait", cause: cause),
      attempt: attempt, at: 1000, chance: 0.5)
  }

  @Test("three attempts with doubled pauses, then none until it is asked for")
  func attempts() {
    let causes: [SpoolError.Cause] = [.transient, .environment]
    for cause in causes {
      let times = (1...4).map { attempt -> Double? in
        guard case .fail(let reason, let next, true) = change(cause, attempt: attempt) else {
          return -1
        }
        #expect(reason == "cannot read: busy; wait")
        return next
      }
      #expect(times == [1002, 1004, nil, nil])
    }
  }

  @Test("the recording's own fault is not tried again")
  func input() {
    #expect(change(.input, attempt: 1) == .quarantine(reason: "cannot read: busy"))
  }

  @Test("who is stopped is put back, and a full disk is waited for without end")
  func passing() {
    #expect(change(.cancelled, attempt: 3) == .putBack(reason: "cannot read: busy"))
    #expect(
      change(.fullDisk, attempt: 9)
        == .fail(reason: "cannot read: busy", nextAttempt: 1060, isCounted: false))
    guard case .fail(_, let next?, false) = change(.blocked, attempt: 9) else {
      Issue.record("what only its owner can mend is not waited for")
      return
    }
    #expect(next > 1000 && next < 1060)
  }

  @Test("pauses are capped and differ by the jitter")
  func pauses() {
    let policy = RetryPolicy(attempts: 99, firstPause: 3, longestPause: 60, jitter: 0.2)
    let middle = (1...7).map { policy.pause(after: $0, chance: 0.5) }
    #expect(middle == [3, 6, 12, 24, 48, 60, 60])
    #expect(policy.pause(after: 1000, chance: 1) == 60)
    #expect(abs(policy.pause(after: 1, chance: 0) - 2.4) < 1e-9)
    #expect(abs(policy.pause(after: 1, chance: 1) - 3.6) < 1e-9)
  }

  @Test("a release by a person counts for the reasons that were in the history before it alone")
  func releasedReasons() {
    func history(_ events: (RecordingState, String?)...) -> [RecordingEvent] {
      events.enumerated().map { index, event in
        RecordingEvent(at: Double(index), state: event.0, reason: event.1)
      }
    }
    let (long, loud) = ("assert: too long", "assert-2: too loud")
    let released = history(
      (.received, nil), (.quarantined, "\(long); \(loud)"),
      (.received, RecordingEvent.releaseReason), (.processing, nil))
    #expect(released.isReleased(from: long) && released.isReleased(from: loud))
    #expect(!released.isReleased(from: "assert: too short"))
    let retried = history((.quarantined, long), (.received, "asked for by hand"))
    #expect(!retried.isReleased(from: long))
    let again = released + history((.quarantined, long))
    #expect(!again.isReleased(from: long))
  }
}
