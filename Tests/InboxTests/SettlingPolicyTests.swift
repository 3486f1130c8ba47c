import Testing

@testable import Inbox

@Suite("Settling with sidecars and markers")
struct SettlingPolicyTests {
  private let note: InboxPath
  private static let stamp = FileStamp(byteCount: 1, modified: 1, changed: 1, inode: 1)

  init() throws { note = try #require(InboxPath("sub/note.m4a")) }

  /// A settling that has seen the note at 0, 1 and 2 seconds and found it whole.
  private func wholeNote(_ change: (inout SettlingRules) -> Void) -> Settling {
    var rules = SettlingRules()
    change(&rules)
    var settling = Settling(rules: rules)
    rest(note, in: &settling, from: 0)
    #expect(settling.steps(at: .seconds(2)) == [.examine(note)])
    settling.note(
      .examined(.whole, canSeeWriters: true, nameCount: 1), of: Self.stamp, at: note,
      now: .seconds(2))
    return settling
  }

  private func rest(_ path: InboxPath, in settling: inout Settling, from start: Int) {
    for second in start...start + 2 {
      settling.note(Self.stamp, at: path, now: .seconds(second))
    }
  }

  private func settled(
    with sidecar: String?, marker: String? = nil, doubt: String? = nil
  ) -> Settling.Step {
    .settled(
      SettledRecording(
        path: note, stamp: Self.stamp, sidecar: sidecar.flatMap { InboxPath($0) }, nameCount: 1,
        marker: marker.flatMap { InboxPath($0) }, doubt: doubt))
  }

  /// What is told at a time, when every sidecar reads as is said and the note is so long.
  private func told(
    by settling: inout Settling, at second: Int, sidecar: ContainerVerdict = .whole,
    declared: SettlingEntry.Length = .unknown, length: SettlingEntry.Length = .unknown
  ) -> [Settling.Step] {
    var told: [Settling.Step] = []
    for _ in 0..<4 {
      for step in settling.steps(at: .seconds(second)) {
        switch step {
        case .examine(let path) where path != note:
          settling.note(
            .examined(sidecar, canSeeWriters: true, nameCount: 1), of: Self.stamp, at: path,
            now: .seconds(second))
          settling.note(declared, of: Self.stamp, at: path)
        case .examine(let path):
          settling.note(
            .examined(.whole, canSeeWriters: true, nameCount: 1), of: Self.stamp, at: path,
            now: .seconds(second))
        case .measure(let path): settling.note(length, of: Self.stamp, at: path)
        case .waiting: break
        default: told.append(step)
        }
      }
    }
    return told
  }

  @Test(
    "each name of a sidecar is found, and the plainest is preferred",
    arguments: ["sub/note.json", "sub/note.m4a.json", "sub/note_meta.json"])
  func names(name: String) throws {
    var settling = wholeNote { $0.sidecar = .required(reportedAfter: .seconds(100)) }
    #expect(told(by: &settling, at: 3) == [])
    for other in ["note.json", "sub/other.json", "sub/note.wav.json"] {
      rest(try #require(InboxPath(other)), in: &settling, from: 3)
    }
    #expect(
      !told(by: &settling, at: 6).contains { if case .settled = $0 { true } else { false } })
    rest(try #require(InboxPath(name)), in: &settling, from: 6)
    let steps = told(by: &settling, at: 8)
    #expect(steps.contains(settled(with: name)), "\(steps)")
  }

  @Test("a sidecar that is still being written is waited for, whatever the policy")
  func restlessSidecar() throws {
    var settling = wholeNote { _ in }
    let sidecar = try #require(InboxPath("sub/note.json"))
    settling.note(Self.stamp, at: sidecar, now: .seconds(2))
    #expect(settling.steps(at: .seconds(2)) == [])
    rest(sidecar, in: &settling, from: 2)
    let steps = told(by: &settling, at: 4)
    #expect(Set(steps) == [.sidecar(sidecar, Self.stamp), settled(with: "sub/note.json")])
  }

  @Test("an awaited sidecar is awaited so long and no longer")
  func awaited() {
    var settling = wholeNote { $0.sidecar = .awaited(atMost: .seconds(60)) }
    #expect(told(by: &settling, at: 59) == [])
    #expect(told(by: &settling, at: 60) == [settled(with: nil)])
  }

  @Test("a required sidecar that does not come is reported once, and still waited for")
  func required() throws {
    var settling = wholeNote { $0.sidecar = .required(reportedAfter: .seconds(60)) }
    #expect(told(by: &settling, at: 59) == [])
    #expect(told(by: &settling, at: 60) == [.unsettled(note, .sidecarMissing)])
    #expect(told(by: &settling, at: 90) == [])
    rest(try #require(InboxPath("sub/note.json")), in: &settling, from: 100)
    #expect(told(by: &settling, at: 102).contains(settled(with: "sub/note.json")))
  }

  private static let halfReason = "line 1, column 9: found nothing"
  private static let half = ContainerVerdict.incomplete(halfReason)

  @Test("a sidecar that does not read is waited for until its limit, and then taken as it is")
  func halfSidecar() throws {
    let sidecar = try #require(InboxPath("sub/note.json"))
    for limit in [30, 60] {
      var settling = wholeNote {
        if limit == 60 { $0.sidecar = .awaited(atMost: .seconds(60)) }
      }
      rest(sidecar, in: &settling, from: 2)
      #expect(told(by: &settling, at: 4, sidecar: Self.half) == [])
      #expect(told(by: &settling, at: limit + 1, sidecar: Self.half) == [])
      #expect(
        Set(told(by: &settling, at: limit + 2, sidecar: Self.half))
          == [.sidecar(sidecar, Self.stamp), settled(with: "sub/note.json")])
    }
  }

  @Test("a sidecar that is written anew within its limit is read anew")
  func mendedSidecar() throws {
    var settling = wholeNote { _ in }
    let sidecar = try #require(InboxPath("sub/note.json"))
    let half = FileStamp(byteCount: 9, modified: 1, changed: 1, inode: 1)
    for second in 2...4 { settling.note(half, at: sidecar, now: .seconds(second)) }
    #expect(settling.steps(at: .seconds(4)).contains(.examine(sidecar)))
    settling.note(
      .examined(Self.half, canSeeWriters: true, nameCount: 1), of: half, at: sidecar,
      now: .seconds(4))
    #expect(told(by: &settling, at: 20) == [])
    settling.noteWriter(isAtWork: false, at: sidecar)
    rest(sidecar, in: &settling, from: 20)
    #expect(
      Set(told(by: &settling, at: 22))
        == [.sidecar(sidecar, Self.stamp), settled(with: "sub/note.json")])
  }

  @Test("where a sidecar is required, one that does not read is none")
  func requiredHalf() throws {
    var settling = wholeNote { $0.sidecar = .required(reportedAfter: .seconds(60)) }
    let sidecar = try #require(InboxPath("sub/note.json"))
    rest(sidecar, in: &settling, from: 2)
    #expect(told(by: &settling, at: 61, sidecar: Self.half) == [])
    #expect(
      Set(told(by: &settling, at: 62, sidecar: Self.half))
        == [.sidecar(sidecar, Self.stamp), .unsettled(note, .sidecarUnreadable(Self.halfReason))])
    #expect(told(by: &settling, at: 9000, sidecar: Self.half) == [])
  }

  @Test("a sidecar that will never read holds nobody up, and where one is required none is taken")
  func spoiledSidecar() throws {
    let sidecar = try #require(InboxPath("sub/note.json"))
    let spoiled = ContainerVerdict.unreadable("the file: found a list")
    for policy in [SettlingRules.SidecarPolicy.taken, .awaited(atMost: .seconds(60))] {
      var settling = wholeNote { $0.sidecar = policy }
      rest(sidecar, in: &settling, from: 2)
      #expect(
        Set(told(by: &settling, at: 4, sidecar: spoiled))
          == [.sidecar(sidecar, Self.stamp), settled(with: "sub/note.json")])
    }
    var settling = wholeNote { $0.sidecar = .required(reportedAfter: .seconds(600)) }
    rest(sidecar, in: &settling, from: 2)
    #expect(
      Set(told(by: &settling, at: 4, sidecar: spoiled)) == [
        .sidecar(sidecar, Self.stamp),
        .unsettled(note, .sidecarUnreadable("the file: found a list")),
      ])
    #expect(told(by: &settling, at: 9000, sidecar: spoiled) == [])
  }

  @Test("sound clearly shorter than its sidecar says is waited for, and then taken with a doubt")
  func shortSound() throws {
    let sidecar = try #require(InboxPath("sub/note.json"))
    func run(_ declared: Int, _ held: Int?) -> [[Settling.Step]] {
      var settling = wholeNote { _ in }
      rest(sidecar, in: &settling, from: 2)
      return [4, 599, 601].map {
        told(
          by: &settling, at: $0, declared: .known(declared),
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
    var settling = wholeNote { $0.sidecar = .awaited(atMost: .seconds(60)) }
    #expect(settling.steps(at: .seconds(3)) == [])
    #expect(settling.steps(at: .seconds(4)) == [.waiting(note, "its sidecar is missing")])
    #expect(settling.steps(at: .seconds(5)) == [])
    settling.note(
      FileStamp(byteCount: 2, modified: 1, changed: 2, inode: 1), at: note, now: .seconds(6))
    #expect(settling.steps(at: .seconds(6)) == [.waiting(note, "it is still changing")])
  }

  @Test("ignored sidecars are not followed at all")
  func ignored() throws {
    var settling = wholeNote { $0.sidecar = .ignored }
    rest(try #require(InboxPath("sub/note.json")), in: &settling, from: 0)
    #expect(settling.count == 1)
    #expect(told(by: &settling, at: 2) == [settled(with: nil)])
  }

  @Test("a missing marker is reported once, and a marker with either name is enough")
  func markers() throws {
    for marker in ["sub/note.m4a.ok", "sub/note.ok"] {
      var settling = wholeNote { $0.doneMarker = ".ok" }
      #expect(told(by: &settling, at: 599) == [])
      #expect(told(by: &settling, at: 600) == [.unsettled(note, .markerMissing)])
      #expect(told(by: &settling, at: 601) == [])
      settling.note(Self.stamp, at: try #require(InboxPath(marker)), now: .seconds(602))
      #expect(told(by: &settling, at: 602) == [settled(with: nil, marker: marker)])
    }
  }

  @Test("a sidecar and a command are told once, and again when they change")
  func companions() throws {
    var settling = Settling(rules: SettlingRules())
    let sidecar = try #require(InboxPath("a.json"))
    let command = try #require(InboxPath("1.command.json"))
    rest(sidecar, in: &settling, from: 0)
    rest(command, in: &settling, from: 0)
    #expect(
      Set(told(by: &settling, at: 2))
        == [.sidecar(sidecar, Self.stamp), .command(command, Self.stamp)])
    #expect(settling.steps(at: .seconds(50)) == [] && settling.nextLook == nil)
    let changed = FileStamp(byteCount: 2, modified: 1, changed: 2, inode: 2)
    for second in 60...62 { settling.note(changed, at: sidecar, now: .seconds(second)) }
    #expect(settling.steps(at: .seconds(62)) == [.examine(sidecar)])
    settling.note(
      .examined(.whole, canSeeWriters: true, nameCount: 1), of: changed, at: sidecar,
      now: .seconds(62))
    #expect(settling.steps(at: .seconds(62)) == [.sidecar(sidecar, changed)])
  }

  @Test(
    "a recording waits for a transcript that is still being written, and takes all of them along")
  func transcripts() throws {
    var settling = wholeNote { $0.takesTranscripts = true }
    let text = try #require(InboxPath("sub/note.txt"))
    let captions = try #require(InboxPath("sub/note.m4a.srt"))
    settling.note(Self.stamp, at: text, now: .seconds(2))
    #expect(settling.steps(at: .seconds(2)) == [])
    rest(text, in: &settling, from: 2)
    rest(captions, in: &settling, from: 3)
    #expect(told(by: &settling, at: 4) == [.transcript(text, Self.stamp)])
    let settled = Settling.Step.settled(
      SettledRecording(
        path: note, stamp: Self.stamp, sidecar: nil, nameCount: 1, transcripts: [text, captions]))
    #expect(Set(told(by: &settling, at: 5)) == [.transcript(captions, Self.stamp), settled])
    // They are told once.
    #expect(settling.steps(at: .seconds(60)) == [])
  }

  @Test("JSON that proves to be words is no sidecar, and what the sidecar names comes first")
  func namedTranscripts() throws {
    var settling = wholeNote { $0.takesTranscripts = true }
    let words = try #require(InboxPath("sub/note.json"))
    let sidecar = try #require(InboxPath("sub/note.m4a.json"))
    let said = try #require(InboxPath("sub/said.txt"))
    for path in [words, sidecar, said] { rest(path, in: &settling, from: 2) }
    for path in [words, sidecar, said] {
      #expect(settling.steps(for: path, at: .seconds(4)) == [.examine(path)])
      settling.note(
        .examined(.whole, canSeeWriters: true, nameCount: 1), of: Self.stamp, at: path,
        now: .seconds(4))
    }
    settling.note(.itself, of: Self.stamp, at: words)
    settling.note(.file(try #require(said.name)), of: Self.stamp, at: sidecar)
    let steps = told(by: &settling, at: 4)
    #expect(
      Set(steps) == [
        .transcript(words, Self.stamp), .transcript(said, Self.stamp),
        .sidecar(sidecar, Self.stamp),
        .settled(
          SettledRecording(
            path: note, stamp: Self.stamp, sidecar: sidecar, nameCount: 1,
            transcripts: [said, words])),
      ])
  }

  @Test("where nobody takes transcripts, text is looked at like anything else")
  func unwantedTranscripts() throws {
    var settling = wholeNote { _ in }
    rest(try #require(InboxPath("sub/note.txt")), in: &settling, from: 2)
    #expect(told(by: &settling, at: 2) == [settled(with: nil)])
  }
}
