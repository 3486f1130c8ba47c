import Foundation
@testable import Intake
import TestSupport
import Testing

/// What must lie beside a recording, and an inbox that goes away.
@Suite("An inbox with rules")
struct ArrivalPolicyTests {
  @Test("with done markers takes a recording only after its marker")
  func doneMarker() async throws {
    let inbox = try LiveInbox { $0.doneMarker = ".done" }
    try inbox.prepare("source")
    try inbox.shell("cp source inbox/a.wav; cp source inbox/b.wav; : > inbox/b.wav.done")
    #expect(await inbox.waitForSettled("b.wav"))
    try inbox.shell(": > inbox/later.wav.done")
    try await inbox.settleLater()
    #expect(inbox.settled == ["b.wav", "later.wav"])
    try inbox.shell(": > inbox/a.done")
    #expect(await inbox.waitForSettled("a.wav"))
    #expect(inbox.told.count == 3, "\(inbox.told)")
  }

  @Test("leaves a recording alone while a download's control file lies beside it")
  func controlFile() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("source")
    try inbox.shell(": > inbox/a.wav.aria2; cp source inbox/a.wav; cp source inbox/b.wav")
    #expect(await inbox.waitForSettled("b.wav"))
    try await inbox.settleLater()
    #expect(inbox.settled == ["b.wav", "later.wav"])
    try inbox.shell("rm inbox/a.wav.aria2")
    #expect(await inbox.waitForSettled("a.wav"))
  }

  @Test("names the sidecar that came first, and the one that came a little late")
  func sidecars() async throws {
    let inbox = try LiveInbox { $0.sidecar = .awaited(atMost: .seconds(36_000)) }
    try inbox.prepare("source")
    try inbox.shell(
      "echo '{}' > inbox/early.json; cp source inbox/early.wav; cp source inbox/late.wav")
    #expect(await inbox.waitForSettled("early.wav"))
    #expect(inbox.settled == ["early.wav"])
    try inbox.shell("echo '{}' > inbox/late_meta.json")
    #expect(await inbox.waitForSettled("late.wav"))
    #expect(inbox.sidecars == ["early.json", "late_meta.json"])
  }

  @Test("takes the sidecar of an earlier watch for sound that replaces its recording")
  func knownSidecar() async throws {
    let inbox = try LiveInbox(known: ["a.json"]) {
      $0.sidecar = .required(reportedAfter: .seconds(36_000))
    }
    try inbox.prepare("source")
    try inbox.shell("echo '{}' > inbox/a.json; echo '{}' > inbox/b.json; cp source inbox/b.wav")
    #expect(await inbox.waitForSettled("b.wav"))
    try inbox.shell("cp source inbox/a.wav")
    #expect(await inbox.waitForSettled("a.wav"))
    #expect(inbox.sidecars == ["b.json", "a.json"])
  }

  @Test("takes a recording whose sidecar never comes when the wait is over")
  func missingSidecar() async throws {
    let inbox = try LiveInbox { $0.sidecar = .awaited(atMost: .milliseconds(900)) }
    try inbox.prepare("source")
    try inbox.shell("cp source inbox/alone.wav")
    #expect(await inbox.waitForSettled("alone.wav"))
  }

  @Test("tells of sidecars and commands by themselves")
  func companions() async throws {
    let inbox = try LiveInbox()
    try inbox.shell("echo '{}' > inbox/note.json; echo '{}' > inbox/7.command.json")
    await inbox.wait(for: "both") { $0.count == 2 }
    let told = Set(
      inbox.told.map { arrival in
        switch arrival {
        case .sidecar(let path, _): "sidecar \(path)"
        case .command(let path, _): "command \(path)"
        default: "\(arrival)"
        }
      })
    #expect(told == ["sidecar note.json", "command 7.command.json"])
  }

  @Test("that is deleted and made again goes on, and says both")
  func recreated() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("source")
    try inbox.shell("cp source inbox/a.wav")
    #expect(await inbox.waitForSettled("a.wav"))
    try inbox.shell("rm -r inbox")
    await inbox.wait(for: "the loss") {
      $0.contains { if case .inboxLost = $0 { true } else { false } }
    }
    try inbox.shell("mkdir -p inbox/sub; cp source inbox/sub/b.wav")
    await inbox.wait(for: "the return") { $0.contains(.inboxBack) }
    #expect(await inbox.waitForSettled("sub/b.wav"))
    try inbox.shell("cp source inbox/sub/c.wav")
    #expect(await inbox.waitForSettled("sub/c.wav"))
  }

  @Test("leaves its own folders alone, and says what was taken away")
  func ownFolders() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("source")
    try inbox.shell("mkdir inbox/accepted inbox/sub; mkdir inbox/sub/accepted")
    try inbox.shell("cp source inbox/accepted/x.wav; cp source inbox/sub/accepted/y.wav")
    #expect(await inbox.waitForSettled("sub/accepted/y.wav"))
    #expect(inbox.settled == ["sub/accepted/y.wav"])
    try inbox.shell("mv inbox/sub/accepted/y.wav inbox/accepted/y.wav")
    let gone = try #require(InboxPath("sub/accepted/y.wav"))
    await inbox.wait(for: "that it is gone") { $0.contains(.gone(gone)) }
    #expect(inbox.told.count == 2, "\(inbox.told)")
  }

  @Test("takes a file again when it is asked to")
  func lookAgain() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("source")
    try inbox.shell("cp source inbox/a.wav")
    #expect(await inbox.waitForSettled("a.wav"))
    inbox.lookAgain(at: try #require(InboxPath("a.wav")))
    await inbox.wait(for: "it twice") { $0.count { $0.settledName == "a.wav" } == 2 }
  }
}
