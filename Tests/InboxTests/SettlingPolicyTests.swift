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

  private func settled(with sidecar: String?) -> Settling.Step {
    .settled(
      SettledRecording(
        path: note, stamp: Self.stamp, sidecar: sidecar.flatMap { InboxPath($0) }, nameCount: 1))
  }

  @Test(
    "each name of a sidecar is found, and the plainest is preferred",
    arguments: ["sub/note.json", "sub/note.m4a.json", "sub/note_meta.json"])
  func names(name: String) throws {
    var settling = wholeNote { $0.sidecar = .required(reportedAfter: .seconds(100)) }
    #expect(settling.steps(at: .seconds(3)) == [])
    for other in ["note.json", "sub/other.json", "sub/note.wav.json"] {
      rest(try #require(InboxPath(other)), in: &settling, from: 3)
    }
    #expect(
      !settling.steps(at: .seconds(6)).contains { if case .settled = $0 { true } else { false } })
    rest(try #require(InboxPath(name)), in: &settling, from: 6)
    let steps = settling.steps(at: .seconds(8)) + settling.steps(at: .seconds(8))
    #expect(steps.contains(settled(with: name)), "\(steps)")
  }

  @Test("a sidecar that is still being written is waited for, whatever the policy")
  func restlessSidecar() throws {
    var settling = wholeNote { _ in }
    let sidecar = try #require(InboxPath("sub/note.json"))
    settling.note(Self.stamp, at: sidecar, now: .seconds(2))
    #expect(settling.steps(at: .seconds(2)) == [])
    rest(sidecar, in: &settling, from: 2)
    let steps = settling.steps(at: .seconds(4)) + settling.steps(at: .seconds(4))
    #expect(Set(steps) == [.sidecar(sidecar, Self.stamp), settled(with: "sub/note.json")])
  }

  @Test("an awaited sidecar is awaited so long and no longer")
  func awaited() {
    var settling = wholeNote { $0.sidecar = .awaited(atMost: .seconds(60)) }
    #expect(settling.steps(at: .seconds(59)) == [])
    #expect(settling.steps(at: .seconds(60)) == [settled(with: nil)])
  }

  @Test("a required sidecar that does not come is reported once, and still waited for")
  func required() throws {
    var settling = wholeNote { $0.sidecar = .required(reportedAfter: .seconds(60)) }
    #expect(settling.steps(at: .seconds(59)) == [])
    #expect(settling.steps(at: .seconds(60)) == [.unsettled(note, .sidecarMissing)])
    #expect(settling.steps(at: .seconds(90)) == [])
    rest(try #require(InboxPath("sub/note.json")), in: &settling, from: 100)
    let steps = settling.steps(at: .seconds(102)) + settling.steps(at: .seconds(102))
    #expect(steps.contains(settled(with: "sub/note.json")))
  }

  @Test("ignored sidecars are not followed at all")
  func ignored() throws {
    var settling = wholeNote { $0.sidecar = .ignored }
    rest(try #require(InboxPath("sub/note.json")), in: &settling, from: 0)
    #expect(settling.count == 1)
    #expect(settling.steps(at: .seconds(2)) == [settled(with: nil)])
  }

  @Test("a missing marker is reported once, and a marker with either name is enough")
  func markers() throws {
    for marker in ["sub/note.m4a.ok", "sub/note.ok"] {
      var settling = wholeNote { $0.doneMarker = ".ok" }
      #expect(settling.steps(at: .seconds(599)) == [])
      #expect(settling.steps(at: .seconds(600)) == [.unsettled(note, .markerMissing)])
      #expect(settling.steps(at: .seconds(601)) == [])
      settling.note(Self.stamp, at: try #require(InboxPath(marker)), now: .seconds(602))
      #expect(settling.steps(at: .seconds(602)) == [settled(with: nil)])
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
      Set(settling.steps(at: .seconds(2)))
        == [.sidecar(sidecar, Self.stamp), .command(command, Self.stamp)])
    #expect(settling.steps(at: .seconds(50)) == [] && settling.nextLook == nil)
    let changed = FileStamp(byteCount: 2, modified: 1, changed: 2, inode: 2)
    for second in 60...62 { settling.note(changed, at: sidecar, now: .seconds(second)) }
    #expect(settling.steps(at: .seconds(62)) == [.sidecar(sidecar, changed)])
  }
}
