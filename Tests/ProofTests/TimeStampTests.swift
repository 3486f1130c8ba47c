import Foundation
import Platform
@testable import Proof
import TestSupport
import Testing

@Suite("A time stamp counts only as the answer to its own request, by an authority that is trusted")
struct TimeStampTests {
  private let authority: TimeAuthority
  private let scratch: ScratchFolder
  private let certificates: TrustedCertificates
  private let request = TimeStampRequest(for: SHA256.digest(of: "receipt"))
  private let now: Double

  init() throws {
    authority = try TimeAuthority()
    scratch = try ScratchFolder()
    certificates = try TrustedCertificates(at: authority.certificates)
    // Not before the authority was made: its certificate is not valid before.
    now = Date().timeIntervalSince1970
  }

  private func accept(
    _ bytes: [UInt8], by certificates: TrustedCertificates? = nil, at time: Double? = nil
  ) throws -> TimeStamp {
    try TimeStampReply(bytes).accepted(
      for: request, by: certificates ?? self.certificates, at: time ?? now)
  }

  @Test("a good answer says when and who, and openssl finds the same")
  func good() throws {
    let bytes = try authority.reply(to: request.bytes)
    let stamp = try accept(bytes)
    #expect(stamp.digest == request.digest)
    #expect(abs(stamp.time - now) < 60)
    #expect(stamp.authority == "CN=A Test Authority (good)")
    #expect(stamp.timeText.hasSuffix(".000Z"))
    let reply = TimeStampReply(bytes)
    #expect(try reply.verified(for: request.digest, by: certificates) == stamp)
    let token = scratch.file("token.tsr")
    try Data(bytes).write(to: URL(fileURLWithPath: token))
    let whole = try authority.verify(token, of: scratch.write("receipt", to: "receipt"))
    #expect(whole.exitCode == 0, "\(whole.text)\(whole.errorOutput)")
    #expect(try authority.verify(token, of: scratch.write("other", to: "other")).exitCode != 0)
  }

  @Test("openssl reads the request: SHA-256, a nonce, and the wish for the certificate")
  func requested() throws {
    let path = scratch.file("query.tsq")
    try Data(request.bytes).write(to: URL(fileURLWithPath: path))
    let read = try #require(Program(named: "openssl")).run(["ts", "-query", "-in", path, "-text"])
    let lines = read.text.split(separator: "\n").map(String.init)
    #expect(lines.contains("Version: 1"))
    #expect(lines.contains("Hash Algorithm: sha256"))
    #expect(lines.contains("Certificate required: yes"))
    let nonce = try #require(request.nonce)
    let hex = String(nonce, radix: 16, uppercase: true)
    let padded = hex.count % 2 == 0 ? hex : "0" + hex
    #expect(lines.contains("Nonce: 0x\(padded)"), "\(lines) \(padded)")
    let data = lines.filter { $0.hasPrefix("    00") }.joined()
    #expect(data.contains(request.digest.hex.prefix(2)))
    #expect(TimeStampRequest(for: request.digest).nonce != nonce, "each has one of its own")
  }

  @Test(
    "whatever is wrong with it, it is refused, and why is told",
    arguments: [
      (TimeAuthority.Way.otherDigest, "its digest is another"),
      (.otherNonce, "its nonce is not the one that was sent"),
      (.expired, "not trusted: certificate has expired"),
      (.flipped, "signature"),
      (.rejected, "the authority did not grant it"),
      (.garbage, "it is no answer of a time stamping authority"),
      (.tail, "it is no answer of a time stamping authority"),
    ])
  func refused(way: TimeAuthority.Way, reason: String) throws {
    let bytes = try authority.reply(to: request.bytes, way)
    let error = #expect(throws: SpoolError.self) { try accept(bytes) }
    #expect(error?.reason?.contains(reason) == true, "\(error?.reason ?? "nothing")")
  }

  @Test("an authority of another root is foreign, and so is a chain that is not valid yet")
  func foreign() throws {
    let bytes = try authority.reply(to: request.bytes)
    let stranger = try TimeAuthority()
    let other = try TrustedCertificates(at: stranger.certificates)
    let error = #expect(throws: SpoolError.self) { try accept(bytes, by: other) }
    #expect(error?.reason?.contains("not trusted") == true, "\(error?.reason ?? "nothing")")
    #expect(throws: SpoolError.self) { try accept(bytes, at: 1_500_000_000) }
    // Years after the certificates expired, what was signed before still counts as what it was.
    #expect(throws: SpoolError.self) { try accept(bytes, at: 2_600_000_000) }
    #expect(
      try TimeStampReply(bytes).verified(for: request.digest, by: certificates).time > now - 60)
  }

  @Test("a request that somebody else sent is not answered by it")
  func replayed() throws {
    let earlier = try authority.reply(to: TimeStampRequest(for: request.digest).bytes)
    let error = #expect(throws: SpoolError.self) { try accept(earlier) }
    #expect(error?.reason?.contains("nonce") == true)
    let without = try authority.reply(to: TimeStampRequest(for: request.digest, nonce: nil).bytes)
    #expect(throws: SpoolError.self) { try accept(without) }
    #expect(throws: SpoolError.self) {
      try TimeStampReply(earlier).verified(
        for: SHA256.digest(of: "another receipt"), by: certificates)
    }
  }

  @Test("no flipped bit tells another time, another digest or another authority")
  func flipped() throws {
    let bytes = try authority.reply(to: request.bytes)
    let stamp = try accept(bytes)
    // Parts that say nothing are not signed: the list of checksums has those.
    for byte in bytes.indices {
      var changed = bytes
      changed[byte] ^= 1 << (byte % 8)
      guard
        let other = try? TimeStampReply(changed).verified(for: request.digest, by: certificates)
      else { continue }
      #expect(other == stamp, "byte \(byte)")
    }
  }

  @Test("beside a receipt, any flipped bit of a token, its certificates or their list is named")
  func files() throws {
    let bytes = try authority.reply(to: request.bytes)
    let files = TimeStampReply(bytes).files(certificates, token: "note.receipt.tsr")
    func check(_ own: TrustedCertificates? = nil) -> TimeStampCheck {
      TimeStampCheck(
        of: "note.receipt.json", in: scratch.path, digest: request.digest, certificates: own)
    }
    #expect(check().verified == [] && check().problems.isEmpty, "there need not be any")
    for (name, bytes) in files {
      try Data(bytes).write(to: URL(fileURLWithPath: scratch.file(name)))
    }
    #expect(check().problems.isEmpty, "\(check().problems)")
    #expect(check().verified.map(\.name) == ["note.receipt.tsr"])
    #expect(check().verified.first?.certificates == "note.receipt.tsr.pem")
    #expect(check(certificates).verified.first?.certificates == nil)
    let sums = try #require(Program(named: "sha256sum"))
    #expect(
      try sums.run(["-c", "--strict", "note.receipt.tsr.sha256"], folder: scratch.path).exitCode
        == 0)
    for (name, whole) in files {
      let url = URL(fileURLWithPath: scratch.file(name))
      for byte in stride(from: 0, to: whole.count, by: 7) {
        var changed = whole
        changed[byte] ^= 1 << (byte % 8)
        try Data(changed).write(to: url)
        #expect(check().problems.contains { $0.name == name }, "\(name), byte \(byte)")
      }
      try Data(whole).write(to: url)
    }
    #expect(check().problems.isEmpty)
  }

  @Test("a file without certificates, or with half of one, is refused with its name")
  func certificateFiles() throws {
    for text in ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
      let path = try scratch.write(text, to: "ca.pem")
      let error = #expect(throws: SpoolError.self) { try TrustedCertificates(at: path) }
      #expect(error?.message.contains(path) == true)
    }
    let one = try String(contentsOfFile: authority.certificates, encoding: .utf8)
    let cut = try scratch.write(one + String(one.prefix(300)), to: "ca.pem")
    #expect(throws: SpoolError.self) { try TrustedCertificates(at: cut) }
    let two = try scratch.write("about\n" + one + "\nand\n" + one, to: "ca.pem")
    #expect(try TrustedCertificates(at: two).count == 2)
    #expect(throws: SpoolError.self) { try TrustedCertificates(at: scratch.file("none.pem")) }
  }
}
