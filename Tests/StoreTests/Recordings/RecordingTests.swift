import PipelineModel
import Platform
import Store
import Testing

@Suite("The way of a note")
struct NoteTests {
  private static let all = RecordingState.allCases
  private static let sound = SHA256.digest(of: "sound")
  private static let other = RecordingKey("0123456789ab")

  /// A note in a state, decoded to its end or not.
  static func recording(_ state: RecordingState, isAccepted: Bool = true, attempts: Int = 1)
    -> Recording
  {
    var recording = Recording(
      key: RecordingKey("abcdef012345"), pipeline: "voice", inbox: "/inbox", fileName: "a.m4a",
      content: Artifact(kind: .sound, digest: sound, byteCount: 5), receivedAt: 100,
      acknowledgementName: "abcdef012345")
    recording.state = state
    recording.attempts = attempts
    recording.acceptedAt = isAccepted ? 101 : nil
    return recording
  }

  /// Each change with the states that it may begin in, and where it leads.
  static let rules: [(RecordingChange, from: Set<RecordingState>, to: RecordingState?)] = [
    (.begin, [.received, .failed], .processing),
    (.accept(sound: sound), [.processing], .processing),
    (.upload, [.processing], .uploading),
    (.finish(reason: nil), [.received, .processing, .uploading], .uploaded),
    (
      .fail(reason: "busy", nextAttempt: 200, isCounted: true), [.processing, .uploading],
      .failed
    ),
    (
      .quarantine(reason: "bad"), [.received, .processing, .uploading, .failed], .quarantined
    ),
    (.putBack(reason: "stopped"), [.processing, .uploading], .received),
    (.waitFor(other), [.processing, .uploading, .failed, .quarantined], .received),
    (.retry(reason: nil), [.failed, .quarantined], .received),
    (.release(reason: nil), [.quarantined], .received),
    (.cancel(reason: nil), [.received, .processing, .uploading], .failed),
    (.rename("b"), Set(all), nil),
    (.tag(["c"]), Set(all), nil),
    (.repeatArrival(name: "c.m4a"), Set(all), nil),
    (.conflictAppeared(other), Set(all), nil),
    (
      .attach(LateSidecar(Artifact(kind: .file, digest: sound, byteCount: 1))), Set(all), nil
    ),
    (.stopWaiting, [], nil),
    (.dropClaim, [], nil),
  ]

  @Test("every change leads where the rules say from every state, or changes nothing")
  func exhaustive() throws {
    for (change, from, target) in Self.rules {
      for state in Self.all {
        let before = Self.recording(state)
        let after = try? before.applying(change, at: 150)
        #expect((after != nil) == from.contains(state), "\(change) from \(state)")
        guard let after else { continue }
        #expect(after.state == target ?? state, "\(change) from \(state)")
        #expect(after.revision == before.revision + 1 && after.changedAt == 150)
        #expect(after.stateSince == (after.state == state ? before.stateSince : 150))
        #expect(
          after.state == state || state.allows(after.state),
          "\(change) takes a way from \(state) that there is none")
      }
    }
  }

  @Test("nothing follows being uploaded, and no state follows itself")
  func ways() {
    for state in Self.all {
      #expect(!RecordingState.uploaded.allows(state))
      #expect(!state.allows(state))
    }
  }

  @Test("nothing is uploaded that was not decoded to its end")
  func unaccepted() throws {
    for change in [RecordingChange.upload, .finish(reason: nil)] {
      let refusal = try #require(throws: RecordingRefusal.self) {
        try Self.recording(.processing, isAccepted: false).applying(change, at: 150)
      }
      #expect(refusal.reason.contains("decoded to its end"))
    }
  }

  @Test("attempts are counted, but for those that were nobody's fault, and anew when asked for")
  func attempts() throws {
    var recording = Self.recording(.received, attempts: 0)
    recording = try recording.applying(.begin, at: 1)
    #expect(recording.attempts == 1)
    #expect(try recording.applying(.putBack(reason: "x"), at: 2).attempts == 0)
    let counted = try recording.applying(
      .fail(reason: "x", nextAttempt: 9, isCounted: true), at: 2)
    #expect(counted.attempts == 1 && counted.nextAttempt == 9 && counted.reason == "x")
    #expect(
      try recording.applying(.fail(reason: "x", nextAttempt: 9, isCounted: false), at: 2).attempts
        == 0)
    let again = try counted.applying(.begin, at: 3)
    #expect(again.attempts == 2 && again.nextAttempt == nil && again.reason == nil)
    #expect(try counted.applying(.retry(reason: nil), at: 3).attempts == 0)
  }

  @Test("a failed note that is to be tried again can be cancelled, and one at rest cannot")
  func cancelling() throws {
    var recording = Self.recording(.failed)
    #expect(throws: RecordingRefusal.self) { try recording.applying(.cancel(reason: nil), at: 5) }
    recording.nextAttempt = 200
    let cancelled = try recording.applying(.cancel(reason: nil), at: 5)
    #expect(cancelled.state == .failed && cancelled.nextAttempt == nil)
    #expect(!recording.isCancelled && cancelled.isCancelled && cancelled.words == "is cancelled")
    // Once is enough, and whoever wants it after all takes that back.
    #expect(throws: RecordingRefusal.self) { try cancelled.applying(.cancel(reason: nil), at: 6) }
    let again = try cancelled.applying(.retry(reason: nil), at: 6)
    #expect(again.state == .received && !again.isCancelled)
    #expect(try again.applying(.cancel(reason: nil), at: 7).isCancelled)
  }

  @Test("what is empty is neither released nor tried again, and nobody is told to")
  func empty() throws {
    var recording = Recording(
      key: RecordingKey("abcdef012345"), pipeline: "voice", inbox: "/inbox", fileName: "a.m4a",
      content: Artifact(kind: .sound, digest: Self.sound, byteCount: 0), receivedAt: 100,
      acknowledgementName: "abcdef012345")
    recording.state = .quarantined
    for change in [RecordingChange.release(reason: nil), .retry(reason: nil)] {
      let refusal = try #require(throws: RecordingRefusal.self) {
        try recording.applying(change, at: 5)
      }
      #expect(refusal.reason.contains("empty"))
      #expect(refusal.command == "spool inbox forget abcdef012345")
    }
    #expect(
      recording.nextCommands == [
        "spool inbox show abcdef012345", "spool inbox forget abcdef012345",
      ])
  }

  @Test("a conflict is let in by a release, and not by a retry")
  func conflict() throws {
    var recording = Self.recording(.quarantined)
    recording.conflict = Self.other
    let refusal = try #require(throws: RecordingRefusal.self) {
      try recording.applying(.retry(reason: nil), at: 5)
    }
    #expect(refusal.command == "spool inbox release abcdef012345")
    #expect(try recording.applying(.release(reason: nil), at: 5).state == .received)
  }

  @Test("one that waits for another is not begun until it waits no longer")
  func waiting() throws {
    let recording = try Self.recording(.processing).applying(.waitFor(Self.other), at: 5)
    #expect(recording.waitsForOriginal && recording.attempts == 0)
    #expect(throws: RecordingRefusal.self) { try recording.applying(.begin, at: 6) }
    let free = try recording.applying(.stopWaiting, at: 6)
    #expect(try free.applying(.begin, at: 7).state == .processing)
  }

  @Test("a sidecar is attached once, and adds to what is known")
  func attaching() throws {
    let artifact = Artifact(kind: .file, digest: Self.sound, byteCount: 1)
    var late = LateSidecar(
      artifact, deviceID: "id", deviceName: "ID", facts: "{}", tags: ["a"])
    let change = RecordingChange.attach(late)
    var recording = Self.recording(.received)
    recording.title = "mine"
    let attached = try recording.applying(change, at: 5)
    #expect(attached.sidecar == artifact && attached.deviceID == "id")
    #expect(attached.title == "mine" && attached.tags == ["a"])
    #expect(attached.acknowledgementName == "ID" && attached.shownID == "ID")
    #expect(throws: RecordingRefusal.self) { try attached.applying(change, at: 6) }
    // One that did not read is replaced, and whose identity is another's is told of by its own name.
    late.isReplacing = true
    late.conflict = Self.other
    #expect(try attached.applying(.attach(late), at: 6).acknowledgementName == "ID")
    let claim = try recording.applying(.attach(late), at: 6)
    #expect(claim.acknowledgementName == claim.key.name && claim.conflict == Self.other)
  }
}
