@testable import Delivery
import Foundation
import Platform
import TestSupport
import Testing

@Suite("A destination is tried for real before it is trusted")
struct DestinationCheckTests {
  private let scratch: ScratchFolder
  private let local: ScratchFolder

  init() throws {
    scratch = try ScratchFolder()
    local = try ScratchFolder()
  }

  private func check(
    _ kind: Destination.Kind, _ environment: [String: String] = ["PATH": "/usr/bin:/bin"]
  ) -> DestinationCheck {
    let check = DestinationCheck(Destination("nas", kind), environment, in: local.path)
    #expect(FilePath.names(in: local.path) == [], "nothing is left here")
    return check
  }

  @Test("a good one passes every step and keeps nothing")
  func good() throws {
    let check = check(.folder(Destination.Folder(scratch.path)))
    #expect(check.steps.map(\.step) == DestinationCheck.Step.allCases)
    #expect(check.steps.allSatisfy { $0.error == nil }, "\(check.steps)")
    #expect(check.isGood && check.listTrouble == nil)
    #expect(abs(try #require(check.clockDifference)) < 60)
    #expect(try #require(check.freeByteCount) > 0)
    #expect(FilePath.names(in: scratch.path) == [])
  }

  @Test("one that forbids to remove is good, and says what is left")
  func appendOnly() throws {
    let there = scratch.file("{name}")
    let check = check(
      .command(Destination.Command(send: ["cp", "-n", "{file}", there], read: ["cat", there])))
    #expect(check.isGood)
    #expect(check.steps.first { $0.step == .remove }?.error != nil)
    #expect(check.listTrouble?.message.contains("cannot list") == true, "no program does it")
    #expect(FilePath.names(in: scratch.path) == [try #require(check.remainder).description])
    #expect(check.clockDifference == nil)
  }

  @Test("nothing is removed from one that only grows, and what it gets encrypted can be read")
  func protected() throws {
    let identity = try AgeKey(in: local)
    defer { try? FileManager.default.removeItem(atPath: identity.path) }
    var destination = Destination("nas", .folder(Destination.Folder(scratch.path)))
    destination.isAppendOnly = true
    destination.encryption = try Encryption([identity.recipient], identity: identity.path)
    let check = DestinationCheck(
      destination, ProcessInfo.processInfo.environment, in: local.path)
    #expect(check.isGood, "\(check.steps)")
    let name = try #require(check.remainder).description
    #expect(FilePath.names(in: scratch.path) == [name])
    var reader = DestinationReader(
      destination, ProcessInfo.processInfo.environment, scratch: local.path
    ) { true }
    let clear = try reader.bytes(of: RemotePath(name), limit: 1 << 20)
    #expect(String(decoding: clear, as: UTF8.self).contains(name))
  }

  @Test("one that is missing, or spoils what it gets, is not")
  func bad() throws {
    let missing = check(.folder(Destination.Folder(scratch.file("nowhere"))))
    #expect(!missing.isGood)
    #expect(missing.steps.map(\.step) == [.connect])
    #expect(missing.steps.first?.error?.remedy == .hold)
    let spoiling = check(
      .command(Destination.Command(send: ["true"], read: ["echo", "other"])))
    #expect(!spoiling.isGood)
    #expect(spoiling.steps.map(\.step) == [.connect, .deliver])
    var place = try Destination.WebDAV("http://127.0.0.1:\(LocalServer.freePort())/")
    place.user = "anna"
    place.password = .variable("NONE")
    let secretless = check(.webDAV(place))
    #expect(secretless.steps.first?.error?.kind == .denied)
  }

  @Test(
    "a WebDAV server says its clock",
    .enabled(if: LocalServer.hasNginx, "nginx is not installed"))
  func webDAV() throws {
    let server = try LocalServer.nginx(scratch)
    let place = try Destination.WebDAV("http://127.0.0.1:\(server.port)/Spool")
    let check = check(.webDAV(place))
    #expect(check.isGood, "\(check.steps)")
    #expect(abs(try #require(check.clockDifference)) < 60)
    #expect(FilePath.names(in: scratch.file("root/Spool")) == [])
  }
}
