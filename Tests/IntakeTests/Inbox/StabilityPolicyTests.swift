@testable import Intake
import Platform
import Testing

@Suite("Settling with sidecars and markers")
struct SettlingPolicyTests {
  private let recording: InboxPath
  private static let stamp = FileStamp(byteCount: 1, modified: 1, changed: 1, inode: 1)

  init() throws { recording = try #require(InboxPath("sub/note.m4a")) }

  /// A settling that has seen the note at 0, 1 and 2 seconds and found it whole.
  private func wholeNote(_ change: (inout StabilityRules) -> Void) -> StabilityTracker {
    var rules = StabilityRules()
    change(&rules)
    var tracker = StabilityTracker(rules: rules)
    rest(recording, in: &tracker, from: 0)
    #expect(tracker.events(at: .seconds(2)) == [.atRest(recording)])
    tracker.record(
      .examined(.whole, canSeeWriters: true, nameCount: 1), of: Self.stamp, at: recording,
      now: .seconds(2))
    return tracker
  }

  private func rest(_ path: InboxPath, in tracker: inout StabilityTracker, from start: Int) {
    for second in start...start + 2 {
      tracker.record(Self.stamp, at: path, now: .seconds(second))
    }
  }

  private func settled(
    with sidecar: String?, marker: String? = nil, doubt: String? = nil
  ) -> InboxEvent {
    .settled(
      StableRecording(
        path: recording, stamp: Self.stamp, sidecar: sidecar.flatMap { InboxPath($0) },
        nameCount: 1,
        marker: marker.flatMap { InboxPath($0) }, doubt: doubt))
  }

  /// What is told at a time, when every sidecar reads as is said and the note is so long.
  private func told(
    by tracker: inout StabilityTracker, at second: Int, sidecar: ContainerVerdict = .whole,
    declared: StabilityEntry.Length = .unknown, length: StabilityEntry.Length = .unknown
  ) -> [InboxEvent] {
    var told: [InboxEvent] = []
    for _ in 0..<4 {
      for event in tracker.events(at: .seconds(second)) {
        switch event {
        case .atRest(let path) where path != recording:
          tracker.record(
            .examined(sidecar, canSeeWriters: true, nameCount: 1), of: Self.stamp, at: path,
            now: .seconds(second))
          tracker.record(declared, of: Self.stamp, at: path)
        case .atRest(let path):
          tracker.record(
            .examined(.whole, canSeeWriters: true, nameCount: 1), of: Self.stamp, at: path,
            now: .seconds(second))
        case .unmeasured(let path): tracker.record(length, of: Self.stamp, at: path)
        case .waiting: break
        default: told.append(event)
        }
      }
    }
    return told
  }

  @Test(
    "each name of a sidecar is found, and the plainest is preferred",
    arguments: ["sub/note.json", "sub/note.m4a.json", "sub/note_meta.json"])
  func names(name: String) throws {
    var tracker = wholeNote { $0.sidecar = .required(reportedAfter: .seconds(100)) }
    #expect(told(by: &tracker, at: 3) == [])
    for other in ["note.json", "sub/other.json", "sub/note.wav.json"] {
      rest(try #require(InboxPath(other)), in: &tracker, from: 3)
    }
    #expect(
      !told(by: &tracker, at: 6).contains { if case .settled = $0 { true } else { false } })
    rest(try #require(InboxPath(name)), in: &tracker, from: 6)
    let steps = told(by: &tracker, at: 8)
    #expect(steps.contains(settled(with: name)), "\(steps)")
  }

  @Test("a sidecar that is still being written is waited for, whatever the policy")
  func restlessSidecar() throws {
    var tracker = wholeNote { _ in }
    let sidecar = try #require(InboxPath("sub/note.json"))
    tracker.record(Self.stamp, at: sidecar, now: .seconds(2))
    #expect(tracker.events(at: .seconds(2)) == [])
    rest(sidecar, in: &tracker, from: 2)
    let steps = told(by: &tracker, at: 4)
    #expect(Set(steps) == [.sidecar(sidecar, Self.stamp), settled(with: "sub/note.json")])
  }

  @Test("an awaited sidecar is awaited so long and no longer")
  func awaited() {
    var tracker = wholeNote { $0.sidecar = .awaited(atMost: .seconds(60)) }
    #expect(told(by: &tracker, at: 59) == [])
    #expect(told(by: &tracker, at: 60) == [settled(with: nil)])
  }

  @Test("a required sidecar that does not come is reported once, and still waited for")
  func required() throws {
    var tracker = wholeNote { $0.sidecar = .required(reportedAfter: .seconds(60)) }
    #expect(told(by: &tracker, at: 59) == [])
    #expect(told(by: &tracker, at: 60) == [.unsettled(recording, .sidecarMissing)])
    #expect(told(by: &tracker, at: 90) == [])
    rest(try #require(InboxPath("sub/note.json")), in: &tracker, from: 100)
    #expect(told(by: &tracker, at: 102).contains(settled(with: "sub/note.json")))
  }

  private static let halfReason = "line 1, column 9: found nothing"
  private static let half = ContainerVerdict.incomplete(halfReason)

  @Test("a sidecar that does not read is waited for until its limit, and then taken as it is")
  func halfSidecar() throws {
    let sidecar = try #require(InboxPath("sub/note.json"))
    for limit in [30, 60] {
      var tracker = wholeNote {
        if limit == 60 { $0.sidecar = .awaited(atMost: .seconds(60)) }
      }
      rest(sidecar, in: &tracker, from: 2)
      #expect(told(by: &tracker, at: 4, sidecar: Self.half) == [])
      #expect(told(by: &tracker, at: limit + 1, sidecar: Self.half) == [])
      #expect(
        Set(told(by: &tracker, at: limit + 2, sidecar: Self.half))
          == [.sidecar(sidecar, Self.stamp), settled(with: "sub/note.json")])
    }
  }

  @Test("a sidecar that is written anew within its limit is read anew")
  func mendedSidecar() throws {
    var tracker = wholeNote { _ in }
    let sidecar = try #require(InboxPath("sub/note.json"))
    let half = FileStamp(byteCount: 9, modified: 1, changed: 1, inode: 1)
    for second in 2...4 { tracker.record(half, at: sidecar, now: .seconds(second)) }
    #expect(tracker.events(at: .seconds(4)).contains(.atRest(sidecar)))
    tracker.record(
      .examined(Self.half, canSeeWriters: true, nameCount: 1), of: half, at: sidecar,
      now: .seconds(4))
    #expect(told(by: &tracker, at: 20) == [])
    tracker.recordWriter(isAtWork: false, at: sidecar)
    rest(sidecar, in: &tracker, from: 20)
    #expect(
      Set(told(by: &tracker, at: 22))
        == [.sidecar(sidecar, Self.stamp), settled(with: "sub/note.json")])
  }

  @Test("where a sidecar is required, one that does not read is none")
  func requiredHalf() throws {
    var tracker = wholeNote { $0.sidecar = .required(reportedAfter: .seconds(60)) }
    let sidecar = try #require(InboxPath("sub/note.json"))
    rest(sidecar, in: &tracker, from: 2)
    #expect(told(by: &tracker, at: 61, sidecar: Self.half) == [])
    #expect(
      Set(told(by: &tracker, at: 62, sidecar: Self.half))
        == [
          .sidecar(sidecar, Self.stamp), .unsettled(recording, .sidecarUnreadable(Self.halfReason)),
        ])
    #expect(told(by: &tracker, at: 9000, sidecar: Self.half) == [])
  }

  @Test("a sidecar that will never read holds nobody up, and where one is required none is taken")
  func spoiledSidecar() throws {
    let sidecar = try #require(InboxPath("sub/note.json"))
    let spoiled = ContainerVerdict.unreadable("the file: found a list")
    for policy in [StabilityRules.SidecarPolicy.taken, .awaited(atMost: .seconds(60))] {
      var tracker = wholeNote { $0.sidecar = policy }
      rest(sidecar, in: &tracker, from: 2)
      #expect(
        Set(told(by: &tracker, at: 4, sidecar: spoiled))
          == [.sidecar(sidecar, Self.stamp), settled(with: "sub/note.json")])
    }
    var tracker = wholeNote { $0.sidecar = .required(reportedAfter: .seconds(600)) }
    rest(sidecar, in: &tracker, from: 2)
    #expect(
      Set(told(by: &tracker, at: 4, sidecar: spoiled)) == [
        .sidecar(sidecar, Self.stamp),
        .unsettled(recording, .sidecarUnreadable("the file: found a list")),
      ])
    #expect(told(by: &tracker, at: 9000, sidecar: spoiled) == [])
  }

  @Test("sound clearly shorter than its sidecar says is waited for, and then taken with a doubt")
  func shortSound() throws {
    let sidecar = try #require(InboxPath("sub/note.json"))
    func run(_ declared: Int, _ held: Int?) -> [[InboxEvent]] {
      var tracker = wholeNote { _ in }
      rest(sidecar, in: &tracker, from: 2)
      return [4, 599, 601].map {
        told(
          by: &tracker, at: $0, declared: .known(declared),
          length: held.map { .known($0) } ?? .unknown)
      }.map { $0.filter { $0 != .sidecar(sidecar, Self.stamp) } }
    }
    let plain = settled(with: "sub/note.json")
    #expect(run(60_000, 58_100) == [[plain], [], []])
    #expect(run(600_000, 575_000) == [[plain], [], []])
    #expect(run(60_000, nil) == [[plain], [], []])
    let doubt = "its sidecar says 60.0 s, and it holds 30.2 s of sound"
    #expect(
      run(60_000, 30_250) == [
        [], [],
        [
          settled(
            with: "sub/note.json", doubt: doubt + ", and it has not changed for 601 s")
        ],
      ])
  }

  @Test("what a file waits for is told once it has waited for a while, and again when it changes")
  func waiting() throws {
    var tracker = wholeNote { $0.sidecar = .awaited(atMost: .seconds(60)) }
    #expect(tracker.events(at: .seconds(3)) == [])
    #expect(
      tracker.events(at: .seconds(4)) == [.waiting(recording, "its sidecar is missing")])
    #expect(tracker.events(at: .seconds(5)) == [])
    tracker.record(
      FileStamp(byteCount: 2, modified: 1, changed: 2, inode: 1), at: recording, now: .seconds(6))
    #expect(
      tracker.events(at: .seconds(6)) == [.waiting(recording, "it is still changing")])
  }

  @Test("ignored sidecars are not followed at all")
  func ignored() throws {
    var tracker = wholeNote { $0.sidecar = .ignored }
    rest(try #require(InboxPath("sub/note.json")), in: &tracker, from: 0)
    #expect(tracker.count == 1)
    #expect(told(by: &tracker, at: 2) == [settled(with: nil)])
  }

  @Test("a missing marker is reported once, and a marker with either name is enough")
  func markers() throws {
    for marker in ["sub/note.m4a.ok", "sub/note.ok"] {
      var tracker = wholeNote { $0.doneMarker = ".ok" }
      #expect(told(by: &tracker, at: 599) == [])
      #expect(told(by: &tracker, at: 600) == [.unsettled(recording, .markerMissing)])
      #expect(told(by: &tracker, at: 601) == [])
      tracker.record(Self.stamp, at: try #require(InboxPath(marker)), now: .seconds(602))
      #expect(told(by: &tracker, at: 602) == [settled(with: nil, marker: marker)])
    }
  }

  @Test("a sidecar and a command are told once, and again when they change")
  func companions() throws {
    var tracker = StabilityTracker(rules: StabilityRules())
    let sidecar = try #require(InboxPath("a.json"))
    let command = try #require(InboxPath("1.command.json"))
    rest(sidecar, in: &tracker, from: 0)
    rest(command, in: &tracker, from: 0)
    #expect(
      Set(told(by: &tracker, at: 2))
        == [.sidecar(sidecar, Self.stamp), .command(command, Self.stamp)])
    #expect(tracker.events(at: .seconds(50)) == [] && tracker.nextLook == nil)
    let changed = FileStamp(byteCount: 2, modified: 1, changed: 2, inode: 2)
    for second in 60...62 { tracker.record(changed, at: sidecar, now: .seconds(second)) }
    #expect(tracker.events(at: .seconds(62)) == [.atRest(sidecar)])
    tracker.record(
      .examined(.whole, canSeeWriters: true, nameCount: 1), of: changed, at: sidecar,
      now: .seconds(62))
    #expect(tracker.events(at: .seconds(62)) == [.sidecar(sidecar, changed)])
  }

  @Test(
    "a recording waits for a transcript that is still being written, and takes all of them along")
  func transcripts() throws {
    var tracker = wholeNote { $0.takesTranscripts = true }
    let text = try #require(InboxPath("sub/note.txt"))
    let captions = try #require(InboxPath("sub/note.m4a.srt"))
    tracker.record(Self.stamp, at: text, now: .seconds(2))
    #expect(tracker.events(at: .seconds(2)) == [])
    rest(text, in: &tracker, from: 2)
    rest(captions, in: &tracker, from: 3)
    #expect(told(by: &tracker, at: 4) == [.transcript(text, Self.stamp)])
    let settled = InboxEvent.settled(
      StableRecording(
        path: recording, stamp: Self.stamp, sidecar: nil, nameCount: 1,
        transcripts: [text, captions]))
    #expect(Set(told(by: &tracker, at: 5)) == [.transcript(captions, Self.stamp), settled])
    // They are told once.
    #expect(tracker.events(at: .seconds(60)) == [])
  }

  @Test("JSON that proves to be words is no sidecar, and what the sidecar names comes first")
  func namedTranscripts() throws {
    var tracker = wholeNote { $0.takesTranscripts = true }
    let words = try #require(InboxPath("sub/note.json"))
    let sidecar = try #require(InboxPath("sub/note.m4a.json"))
    let said = try #require(InboxPath("sub/said.txt"))
    for path in [words, sidecar, said] { rest(path, in: &tracker, from: 2) }
    for path in [words, sidecar, said] {
      #expect(tracker.event(of: path, at: .seconds(4)) == .atRest(path))
      tracker.record(
        .examined(.whole, canSeeWriters: true, nameCount: 1), of: Self.stamp, at: path,
        now: .seconds(4))
    }
    tracker.record(.itself, of: Self.stamp, at: words)
    tracker.record(.file(try #require(said.name)), of: Self.stamp, at: sidecar)
    let steps = told(by: &tracker, at: 4)
    #expect(
      Set(steps) == [
        .transcript(words, Self.stamp), .transcript(said, Self.stamp),
        .sidecar(sidecar, Self.stamp),
        .settled(
          StableRecording(
            path: recording, stamp: Self.stamp, sidecar: sidecar, nameCount: 1,
            transcripts: [said, words])),
      ])
  }

  @Test("a recording waits for the transcript that its sidecar names, as for a sidecar")
  func missingTranscript() throws {
    for isComing in [false, true] {
      var tracker = wholeNote { $0.takesTranscripts = true }
      let sidecar = try #require(InboxPath("sub/note.json"))
      let said = try #require(InboxPath("sub/said.txt"))
      rest(sidecar, in: &tracker, from: 2)
      #expect(tracker.event(of: sidecar, at: .seconds(4)) == .atRest(sidecar))
      tracker.record(
        .examined(.whole, canSeeWriters: true, nameCount: 1), of: Self.stamp, at: sidecar,
        now: .seconds(4))
      tracker.record(.file(try #require(said.name)), of: Self.stamp, at: sidecar)
      #expect(told(by: &tracker, at: 4) == [.sidecar(sidecar, Self.stamp)])
      #expect(told(by: &tracker, at: 31) == [])
      if isComing { rest(said, in: &tracker, from: 29) }
      let settled = InboxEvent.settled(
        StableRecording(
          path: recording, stamp: Self.stamp, sidecar: sidecar, nameCount: 1,
          transcripts: isComing ? [said] : []))
      #expect(
        Set(told(by: &tracker, at: 32))
          == (isComing ? [.transcript(said, Self.stamp), settled] : [settled]))
    }
  }

  @Test("where nobody takes transcripts, text is looked at like anything else")
  func unwantedTranscripts() throws {
    var tracker = wholeNote { _ in }
    rest(try #require(InboxPath("sub/note.txt")), in: &tracker, from: 2)
    #expect(told(by: &tracker, at: 2) == [settled(with: nil)])
  }
}
