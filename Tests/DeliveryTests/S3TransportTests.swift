@testable import Delivery
import Foundation
import Platform
import TestSupport
import Testing

@Suite("An object store has the whole object or none")
struct S3TransportTests {
  @Test("codes and signatures are those of the published examples")
  func vectors() throws {
    // RFC 4231, cases 2 and 6.
    let code = SHA256.authenticationCode(
      of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
    #expect(code.hex == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    let long = SHA256.authenticationCode(
      of: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      key: [UInt8](repeating: 0xAA, count: 131))
    #expect(long.hex == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    // Amazon's documentation, "Authenticating requests: using query parameters".
    let signature = S3Signature(
      accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      sessionToken: nil, region: "us-east-1")
    let address = try WebAddress(
      "https://examplebucket.s3.amazonaws.com/test.txt", schemes: ["https"])
    let link = signature.link(address, forSeconds: 86_400, at: 1_369_353_600)
    #expect(
      link.hasSuffix(
        "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"))
  }

  @Test("the bucket is in the path or in the server's name")
  func styles() throws {
    var place = try Destination.S3(
      "s3://recordings/a b", accessKey: .variable("A"), secretKey: .variable("B"))
    let keys = ["A": "a", "B": "b"]
    var transport = try S3Transport(place, keys)
    let path = try RemotePath("c.wav")
    let link = try transport.link(to: path, forSeconds: 1)
    #expect(
      link?.hasPrefix("https://s3.us-east-1.amazonaws.com/recordings/a%20b/c.wav?X-Amz-") == true)
    place.isPathStyle = false
    place.endpoint = try WebAddress("http://store.example:9000", schemes: ["http"])
    transport = try S3Transport(place, keys)
    let other = try transport.link(to: path, forSeconds: 1)
    #expect(
      other?.hasPrefix("http://recordings.store.example:9000/a%20b/c.wav?X-Amz-") == true)
  }

  @Test("a server that fails late, or answers oddly, is found out")
  func hostile() throws {
    let scratch = try ScratchFolder()
    let server = try LocalServer.hostile(scratch)
    let cases: [(way: String, byteCount: Int, upload: String?, remedy: Remedy, words: String)] = [
      ("latefail", 9 << 20, nil, .retry, "InternalError: later"),
      ("oddlist", 9 << 20, "u&1", .retry, "as S3 does"),
      ("slowdown", 100, nil, .retry, "SlowDown"), ("expired", 100, nil, .hold, "ExpiredToken"),
      ("region", 100, nil, .hold, "set the region of the destination to eu-west-7"),
      ("other", 100, nil, .giveUp, "other bytes"), ("endless", 100, nil, .giveUp, "more than"),
    ]
    for (way, byteCount, upload, remedy, words) in cases {
      let (path, bytes) = try Sample.file(in: scratch, byteCount: byteCount)
      let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
      var place = try Destination.S3(
        "s3://\(way)", accessKey: .variable("A"), secretKey: .variable("B"))
      place.endpoint = try WebAddress("http://127.0.0.1:\(server.port)", schemes: ["http"])
      var transport = try S3Transport(place, ["A": "key", "B": "s3cret"])
      var state = UploadState()
      state.upload = upload
      state.partByteCount = 8 << 20
      let error = #expect(throws: SpoolError.self, "\(way)") {
        try transport.send(file, to: RemotePath("a.wav"), from: state, note: { _ in }) { _ in true }
      }
      #expect(error?.remedy == remedy, "\(way): \(String(describing: error))")
      #expect(error?.description.contains(words) == true, "\(way): \(String(describing: error))")
      #expect(error?.description.contains("s3cret") == false)
      if way == "slowdown" { #expect(transport.requestedPause == 3) }
    }
  }

  @Test("parts are of 8 MiB, or as large as ten thousand of them need")
  func parts() {
    #expect(S3Transport.partByteCount(for: 9 << 20) == 8 << 20)
    #expect(S3Transport.partByteCount(for: 10_000 * (8 << 20)) == 8 << 20)
    #expect(S3Transport.partByteCount(for: 10_000 * (8 << 20) + 1) == 9 << 20)
    #expect(S3Transport.partByteCount(for: 5 << 40) * 10_000 >= 5 << 40)
  }
}

@Suite(
  "A server with S3's interface gets what every transport promises",
  .enabled(if: LocalServer.hasMoto, "moto is not installed"))
struct S3ServerTests {
  private let scratch: ScratchFolder
  private let server: LocalServer

  init() throws {
    scratch = try ScratchFolder()
    server = try LocalServer.moto(scratch)
  }

  private func transport(
    _ place: String = "s3://recordings/spool", secret: String = "secret", port: Int? = nil
  ) throws -> S3Transport {
    var place = try Destination.S3(
      place, accessKey: .file(scratch.file("access")), secretKey: .file(scratch.file(secret)))
    place.endpoint = try WebAddress("http://127.0.0.1:\(port ?? server.port)", schemes: ["http"])
    place.region = "eu-central-1"
    return try S3Transport(place, [:])
  }

  @Test("with signatures that the server checks, and with versions")
  func conformance() throws {
    var transport = try transport()
    try TransportConformance(ScratchFolder()).check(&transport)
    #expect(try transport.freeByteCount() == nil)
    // In pages, all of them.
    var (whole, paged): ([ListedFile], [ListedFile]) = ([], [])
    try transport.list(mayGoOn: { true }) { whole.append($0) }
    transport.listPageSize = 3
    try transport.list(mayGoOn: { true }) { paged.append($0) }
    #expect(whole.count > 9 && paged == whole)
    var versioned = try self.transport("s3://versioned")
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 100)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let found = try versioned.send(file, to: RemotePath("a"), from: nil, note: { _ in }) { _ in
      true
    }
    #expect(found.identifier != nil && found.identifier?.hasPrefix("\"") == false)
  }

  @Test("a link can be read without keys, and tells what the file is")
  func link() throws {
    server.end()
    try FileManager.default.removeItem(atPath: scratch.file("secret"))
    let server = try LocalServer.moto(scratch, checks: false)
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 100)
    let file = try OutgoingFile(
      path, digest: SHA256.digest(of: bytes), contentType: "audio/mp4",
      metadata: ["noteId": "n-1", "durationMs": "1200"])
    var transport = try transport(port: server.port)
    let target = try RemotePath("Grüße 1/a b.m4a")
    _ = try transport.send(file, to: target, from: nil, note: { _ in }) { _ in true }
    let link = try #require(try transport.link(to: target, forSeconds: 60))
    var connection = try HTTPConnection()
    let response = try connection.send(HTTPRequest("GET", link))
    #expect(response.status == 200)
    #expect(response.body == bytes)
    #expect(response["content-type"] == "audio/mp4")
    #expect(response["x-amz-meta-noteid"] == "n-1")
    #expect(response["x-amz-meta-durationms"] == "1200")
  }

  @Test(
    "a server's own checksum is believed where the destination says so, and nothing is read back")
  func checksum() throws {
    var place = try Destination.S3(
      "s3://recordings/spool", accessKey: .file(scratch.file("access")),
      secretKey: .file(scratch.file("secret")))
    place.endpoint = try WebAddress("http://127.0.0.1:\(server.port)", schemes: ["http"])
    place.region = "eu-central-1"
    place.isChecksumTrusted = true
    var transport = try S3Transport(place, [:])
    for (name, byteCount) in [("small.wav", 100_000), ("large.wav", 20 << 20)] {
      let (path, bytes) = try Sample.file(in: scratch, byteCount: byteCount)
      let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
      let target = try RemotePath(name)
      let found = try transport.send(file, to: target, from: nil, note: { _ in }) { _ in true }
      #expect(found.byteCount == byteCount)
      #expect(
        !server.log.split(separator: "\n").contains {
          $0.contains("GET /recordings/spool/\(name)")
        })
      #expect(
        try transport.confirm(target, byteCount: byteCount, digest: file.digest) != nil)
      if byteCount < 8 << 20 { continue }
      // The bytes are others than their digest says.
      let wrong = try OutgoingFile(path, digest: SHA256.digest(of: "other"))
      let error = #expect(throws: SpoolError.self) {
        try transport.send(wrong, to: RemotePath("wrong.wav"), from: nil, note: { _ in }) { _ in
          true
        }
      }
      #expect(error?.kind == .changed)
      #expect(try transport.find(RemotePath("wrong.wav")) == nil)
    }
  }

  @Test("an upload in parts continues with those that the server lacks")
  func continues() throws {
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 30 << 20)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let target = try RemotePath("long.wav")
    var states: [UploadState] = []
    var first = try transport()
    #expect(throws: SpoolError.cancelled) {
      try first.send(file, to: target, from: nil, note: { states.append($0) }) {
        $0.sentByteCount < 20 << 20
      }
    }
    #expect(states.map(\.byteCount) == [0, 8 << 20, 16 << 20])
    #expect(try first.find(target) == nil)
    // The state before the last part was noted: the server knows better.
    let kept = states[1]
    var second = try transport()
    _ = try second.send(file, to: target, from: kept, note: { _ in }) { _ in true }
    let sent = server.log.split(separator: "\n").filter {
      $0.contains("PUT /recordings/spool/long.wav")
    }
    for number in 1...4 {
      #expect(sent.count { $0.contains("partNumber=\(number)&") && $0.contains(" 200 ") } == 1)
    }
    // The upload is complete, and unknown to the server: another one begins.
    let (otherPath, others) = try Sample.file(in: scratch, byteCount: 9 << 20, seed: 2)
    let other = try OutgoingFile(otherPath, digest: SHA256.digest(of: others))
    var state = UploadState()
    state.upload = "gone"
    state.partByteCount = 8 << 20
    _ = try second.send(other, to: RemotePath("b.wav"), from: state, note: { _ in }) { _ in true }
  }

  @Test("wrong keys and a missing bucket hold the destination")
  func refusals() throws {
    try scratch.write("wrong", to: "wrong")
    try FileOperations.uncounted.setMode(0o600, at: scratch.file("wrong"))
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 100)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    for (place, secret, kind) in [
      ("s3://recordings", "wrong", SpoolError.Kind.denied), ("s3://nowhere", "secret", .missing),
    ] {
      var transport = try transport(place, secret: secret)
      let error = #expect(throws: SpoolError.self) {
        try transport.send(file, to: RemotePath("a"), from: nil, note: { _ in }) { _ in true }
      }
      #expect(error?.remedy == .hold, "\(String(describing: error))")
      #expect(error?.kind == kind, "\(String(describing: error))")
    }
  }
}
