@testable import Delivery
import Foundation
import Platform
import TestSupport
import Testing

@Suite("A WebDAV server has the whole file or none under its name")
struct WebDAVTransportTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private func transport(
    _ url: String, user: String? = nil, certificates: String? = nil, rate: Int? = nil
  ) throws -> WebDAVTransport {
    var place = try Destination.WebDAV(url)
    place.user = user
    place.password = user.map { _ in .variable("PASSWORD") }
    place.certificates = certificates
    return try WebDAVTransport(place, ["PASSWORD": "s3cret"], bytesPerSecond: rate)
  }

  @Test(
    "nginx gets what every transport promises",
    .enabled(if: LocalServer.hasNginx, "nginx is not installed"), arguments: [true, false])
  func nginx(hasPropfind: Bool) throws {
    let server = try LocalServer.nginx(scratch, hasPropfind: hasPropfind)
    var transport = try transport("http://127.0.0.1:\(server.port)/Spool")
    try TransportConformance(ScratchFolder(), canList: hasPropfind).check(&transport)
    if !hasPropfind {
      let error = #expect(throws: SpoolError.self) {
        try transport.list(mayGoOn: { true }) { _ in }
      }
      #expect(error?.why.contains("PROPFIND") == true, "\(String(describing: error))")
    }
    let names = FilePath.names(in: scratch.file("root/Spool"))
    #expect(!names.contains { $0.contains(".part") }, "\(names)")
  }

  @Test(
    "rclone's server gets what every transport promises",
    .enabled(if: LocalServer.path(of: "rclone") != nil, "rclone is not installed"))
  func rclone() throws {
    let server = try LocalServer.rclone(scratch)
    let url = "http://127.0.0.1:\(server.port)/Spool"
    var transport = try transport(url, user: "anna")
    try TransportConformance(ScratchFolder()).check(&transport)
    var stranger = try self.transport(url, user: "otto")
    let error = #expect(throws: SpoolError.self) { try stranger.find(RemotePath("a")) }
    #expect(error?.remedy == .hold)
    #expect(error?.kind == .denied)
  }

  @Test(
    "Apache gets what every transport promises",
    .enabled(if: LocalServer.path(of: "apache2") != nil, "apache2 is not installed"))
  func apache() throws {
    let server = try LocalServer.apache(scratch)
    var transport = try transport("http://127.0.0.1:\(server.port)/Spool")
    try TransportConformance(ScratchFolder()).check(&transport)
  }

  @Test(
    "only a server with a valid certificate of its name is spoken to",
    .enabled(if: LocalServer.hasNginx, "nginx is not installed"))
  func certificates() throws {
    try LocalServer.makeCertificates(scratch)
    let roots = scratch.file("ca.pem")
    for (certificate, isGood) in [("good", true), ("expired", false), ("other", false)] {
      let server = try LocalServer.nginx(scratch, secure: certificate, password: "s3cret")
      let url = "https://127.0.0.1:\(server.port)/Spool"
      var transport = try transport(url, user: "anna", certificates: roots)
      if isGood {
        #expect(try transport.find(RemotePath("a")) == nil)
        // The system does not know this authority.
        transport = try self.transport(url, user: "anna")
      }
      let error = #expect(throws: SpoolError.self) { try transport.find(RemotePath("a")) }
      #expect(error?.remedy == .hold)
      #expect(error?.kind == .denied)
      #expect(error?.why.contains("certificate") == true, "\(error?.why ?? "")")
      server.end()
    }
  }

  @Test(
    "a missing folder is not made, and one that vanished is missed",
    .enabled(if: LocalServer.hasNginx, "nginx is not installed"))
  func unmounted() throws {
    let server = try LocalServer.nginx(scratch)
    var transport = try transport("http://127.0.0.1:\(server.port)/Spool")
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 100)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let folder = scratch.file("root/Spool")
    try FileManager.default.removeItem(atPath: folder)
    let error = #expect(throws: SpoolError.self) {
      try transport.send(file, to: RemotePath("a/b.wav"), from: nil, note: { _ in }) { _ in true }
    }
    #expect(error?.remedy == .hold)
    #expect(error?.kind == .missing)
    #expect(!FileManager.default.fileExists(atPath: folder))
    server.end()
    let down = #expect(throws: SpoolError.self) { try transport.find(RemotePath("a")) }
    #expect(down?.remedy == .hold)
    try server.begin()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    _ = try transport.send(file, to: RemotePath("a/b.wav"), from: nil, note: { _ in }) { _ in true }
    #expect(FileManager.default.contents(atPath: "\(folder)/a/b.wav") == Data(bytes))
  }

  @Test(
    "a part that is whole is not sent again",
    .enabled(if: LocalServer.hasNginx, "nginx is not installed"))
  func continues() throws {
    let server = try LocalServer.nginx(scratch)
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 5 << 20)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let target = try RemotePath("a.wav")
    var state: UploadState?
    var first = try transport("http://127.0.0.1:\(server.port)/Spool")
    #expect(throws: SpoolError.cancelled) {
      try first.send(file, to: target, from: nil, note: { state = $0 }) { $0.readByteCount == 0 }
    }
    #expect(state?.byteCount == bytes.count)
    var second = try transport("http://127.0.0.1:\(server.port)/Spool")
    _ = try second.send(file, to: target, from: state, note: { _ in }) { _ in true }
    let log = try String(contentsOfFile: scratch.file("access.log"), encoding: .utf8)
    #expect(log.ranges(of: "PUT /Spool/a.wav").count == 1, "\(log)")
  }

  @Test("a server that breaks its promises is found out, and nothing is given away")
  func hostile() throws {
    let server = try LocalServer.hostile(scratch)
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 3 << 20)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let cases: [(way: String, remedy: Remedy, kind: SpoolError.Kind?, words: String)] = [
      ("forget", .retry, .broken, "no such file"), ("other", .retry, .broken, "other bytes"),
      ("short", .retry, .broken, "other bytes"), ("endless", .retry, .broken, "more than"),
      ("cut", .retry, nil, "transfer closed"), ("stay", .retry, .broken, "has not"),
      ("large", .giveUp, .tooLarge, "413"), ("full", .giveUp, .noRoom, "507"),
      ("busy", .retry, nil, "503"), ("denied", .hold, .denied, "401"),
      ("away", .hold, nil, "redirects to http://localhost"), ("bomb", .hold, nil, "as WebDAV"),
      ("deep", .hold, nil, "as WebDAV"), ("headers", .retry, nil, "65536"),
      ("name", .giveUp, .invalid, "400: bad [31m name"),
    ]
    for (way, remedy, kind, words) in cases {
      let url = "http://127.0.0.1:\(server.port)/\(way)"
      var transport = try transport(url, user: "anna")
      let target = try RemotePath("x/a.wav")
      let error = #expect(throws: SpoolError.self, "\(way)") {
        try transport.send(file, to: target, from: nil, note: { _ in }) { _ in true }
      }
      #expect(error?.remedy == remedy, "\(way): \(String(describing: error))")
      #expect(error?.kind == kind, "\(way): \(String(describing: error))")
      #expect(error?.why.contains(words) == true, "\(way): \(String(describing: error))")
      #expect(error?.description.contains("s3cret") == false)
      if way == "busy" { #expect(transport.requestedPause == 7) }
      if !["denied", "away", "bomb", "deep", "headers"].contains(way) {
        #expect(try transport.find(target) == nil, "\(way)")
      }
    }
    let log = try String(contentsOfFile: scratch.file("requests"), encoding: .utf8)
    #expect(!log.contains(" /good"), "a redirect was followed")
    var good = try transport("http://127.0.0.1:\(server.port)/good", user: "anna")
    _ = try good.send(file, to: RemotePath("a.wav"), from: nil, note: { _ in }) { _ in true }
  }

  @Test("names that a server makes up lead nowhere, and its lists end")
  func hostileLists() throws {
    let server = try LocalServer.hostile(scratch)
    func list(_ way: String) throws -> (files: [String], refused: [String]) {
      var transport = try transport("http://127.0.0.1:\(server.port)/\(way)", user: "anna")
      var (files, refused): ([String], [String]) = ([], [])
      try transport.list(mayGoOn: { true }) { file in
        switch file {
        case .file(let path, _): files.append(path.description)
        case .unusable(let name, let reason): refused.append("\(name): \(reason)")
        }
      }
      return (files, refused)
    }
    let (files, refused) = try list("names")
    #expect(files == ["good.wav"])
    let reasons = [
      "..", "invalid name", "another folder", "another folder", "invalid name", "invalid name",
      "900 bytes", "invalid name",
    ]
    #expect(refused.count == reasons.count, "\(refused)")
    for (line, reason) in zip(refused, reasons) {
      #expect(line.contains(reason), "\(line)")
      #expect(!line.contains("\u{1B}") && line.utf8.count < 1000)
    }
    for (way, words) in [
      ("bomb", "as WebDAV"), ("deep", "as WebDAV"), ("long", "as WebDAV"), ("half", "as WebDAV"),
      ("endless", "enough"),
    ] {
      var transport = try transport("http://127.0.0.1:\(server.port)/\(way)", user: "anna")
      var count = 0
      let error = #expect(throws: SpoolError.self, "\(way)") {
        try transport.list(mayGoOn: { true }) { (_) throws(SpoolError) in
          count += 1
          if count > 50_000 { throw SpoolError("take", reason: "enough") }
        }
      }
      #expect(error?.why.contains(words) == true, "\(way): \(String(describing: error))")
    }
    // A folder that has itself in it ends where names are too long.
    let (loop, tooLong) = try list("loop")
    #expect(loop.count > 1 && (1...2).contains(tooLong.count), "\(loop.count) \(tooLong)")
  }

  @Test(
    "a rate is kept",
    .enabled(if: LocalServer.hasNginx, "nginx is not installed"))
  func rate() throws {
    let server = try LocalServer.nginx(scratch)
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 3 << 20)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    var transport = try transport("http://127.0.0.1:\(server.port)/Spool", rate: 2 << 20)
    let start = ContinuousClock.now
    _ = try transport.send(file, to: RemotePath("a.wav"), from: nil, note: { _ in }) { _ in true }
    #expect(ContinuousClock.now - start >= .milliseconds(900))
  }
}
