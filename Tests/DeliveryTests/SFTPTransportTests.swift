@testable import Delivery
import Foundation
import Platform
import TestSupport
import Testing

@Suite(
  "A server with SSH has the whole file or none under its name",
  .enabled(if: LocalServer.path(of: "sshd") != nil, "openssh-server is not installed"))
struct SFTPTransportTests {
  private let scratch: ScratchFolder
  private let server: LocalServer
  private let root: String

  init() throws {
    scratch = try ScratchFolder()
    server = try LocalServer.sshd(scratch)
    root = scratch.file("root/Spool")
  }

  private func transport(
    user: String = NSUserName(), key: String? = "key", passphrase: Secret? = nil,
    hosts: String = "hosts", folder: String? = nil, rate: Int? = nil
  ) throws -> SFTPTransport {
    let url = "sftp://\(user)@127.0.0.1:\(server.port)\(folder ?? root)"
    var place = try Destination.SFTP(url, knownHosts: scratch.file(hosts))
    place.key = key.map(scratch.file)
    place.passphrase = passphrase
    return try SFTPTransport(place, ["PASSPHRASE": "s3cret"], bytesPerSecond: rate)
  }

  @Test("it gets what every transport promises")
  func conformance() throws {
    var transport = try transport()
    try TransportConformance(ScratchFolder()).check(&transport)
    let names = FilePath.names(in: root)
    #expect(!names.contains { $0.contains(".part") }, "\(names)")
    #expect(try transport.freeByteCount() == nil)
  }

  @Test(
    "rclone's server gets it too, by a password",
    .enabled(if: LocalServer.path(of: "rclone") != nil, "rclone is not installed"))
  func rclone() throws {
    let other = try LocalServer.rcloneSFTP(scratch, hostKey: scratch.file("host"))
    let hosts = try String(contentsOfFile: scratch.file("hosts"), encoding: .utf8)
    try scratch.write(hosts.replacing("\(server.port)", with: "\(other.port)"), to: "others")
    var place = try Destination.SFTP(
      "sftp://anna@127.0.0.1:\(other.port)/Spool", knownHosts: scratch.file("others"))
    place.password = .variable("PASSWORD")
    var transport = try SFTPTransport(place, ["PASSWORD": "s3cret"])
    try TransportConformance(ScratchFolder()).check(&transport)
    var stranger = try SFTPTransport(place, ["PASSWORD": "other"])
    let error = #expect(throws: SpoolError.self) { try stranger.find(RemotePath("a")) }
    #expect(error?.kind == .denied)
    #expect(error?.remedy == .hold)
  }

  @Test(
    "a server whose key is not known, or has changed, gets nothing", arguments: ["none", "wrong"])
  func unknownHost(hosts: String) throws {
    try scratch.write("", to: "none")
    let other = try String(contentsOfFile: scratch.file("key.pub"), encoding: .utf8)
    let wrong = other.split(separator: " ").prefix(2).joined(separator: " ")
    try scratch.write("[127.0.0.1]:\(server.port) \(wrong)\n", to: "wrong")
    var transport = try transport(hosts: hosts)
    let error = #expect(throws: SpoolError.self) { try transport.find(RemotePath("a")) }
    #expect(error?.remedy == .hold)
    #expect(error?.kind == .denied)
    let words =
      hosts == "none"
      ? "does not have the key of 127.0.0.1" : "127.0.0.1:\(server.port) shows another key"
    #expect(error?.why.contains(words) == true, "\(error?.why ?? "")")
    #expect(!server.log.contains("Accepted"))
  }

  @Test("a key with a passphrase opens, and another key does not")
  func keys() throws {
    var secured = try transport(key: "secured", passphrase: .variable("PASSPHRASE"))
    #expect(try secured.find(RemotePath("a")) == nil)
    var stranger = try transport(key: "stranger")
    let error = #expect(throws: SpoolError.self) { try stranger.find(RemotePath("a")) }
    #expect(error?.remedy == .hold)
    #expect(error?.kind == .denied, "\(String(describing: error))")
    #expect(error?.description.contains("s3cret") == false)
  }

  @Test(
    "an upload continues behind its part, and begins anew if that has other bytes",
    arguments: [true, false])
  func continues(isIntact: Bool) throws {
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 20 << 20)
    let digest = SHA256.digest(of: bytes)
    let file = try OutgoingFile(path, digest: digest)
    let target = try RemotePath("sub/a.wav")
    var state: UploadState?
    var first = try transport(rate: 40 << 20)
    #expect(throws: SpoolError.cancelled) {
      try first.send(file, to: target, from: nil, note: { state = $0 }) {
        $0.sentByteCount < 12 << 20
      }
    }
    #expect(try first.find(target) == nil)
    let kept = try #require(state)
    let part = "\(root)/\(target.part(kept.token))"
    #expect(try FileStamp(at: part).byteCount >= 11 << 20)
    if !isIntact { try flipBit(3, ofByte: (5 << 20) + 7, in: part) }
    var starts: [Int] = []
    var second = try transport()
    let found = try second.send(file, to: target, from: kept, note: { _ in }) {
      if $0.readByteCount == 0, $0.sentByteCount > 0 { starts.append($0.sentByteCount) }
      return true
    }
    #expect(try (#require(starts.min()) >= 11 << 20) == isIntact)
    #expect(found.byteCount == bytes.count)
    #expect(FileManager.default.contents(atPath: "\(root)/sub/a.wav") == Data(bytes))
  }

  @Test("the folder may lie in the user's home, or be the server's root")
  func folders() throws {
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 100)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    var transport = try transport(folder: "/~/Spool")
    _ = try transport.send(file, to: RemotePath("a/b.wav"), from: nil, note: { _ in }) { _ in true }
    #expect(FileManager.default.contents(atPath: "\(root)/a/b.wav") == Data(bytes))
    for folder in ["/~", "/"] {
      transport = try self.transport(folder: folder)
      let probe = RemotePath.probe(UploadState().token)
      #expect(try transport.find(probe) == nil)
    }
  }

  @Test("a missing folder is not made, and where nobody answers it is tried again")
  func unmounted() throws {
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 100)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    var transport = try transport(folder: root + "/disk")
    let error = #expect(throws: SpoolError.self) {
      try transport.send(file, to: RemotePath("a/b.wav"), from: nil, note: { _ in }) { _ in true }
    }
    #expect(error?.remedy == .hold)
    #expect(error?.kind == .missing)
    #expect(FilePath.names(in: root) == [])
    server.end()
    var other = try self.transport()
    let down = #expect(throws: SpoolError.self) { try other.find(RemotePath("a")) }
    #expect(down?.remedy == .hold)
  }
}
