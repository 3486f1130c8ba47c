import Foundation
import Platform
@testable import Proof
import TestSupport
import Testing

@Suite("The script beside a receipt needs sh, sha256sum and openssl alone")
struct VerificationScriptTests {
  /// The shells of this machine that claim to be POSIX ones.
  static let shells = ["dash", "bash", "busybox"].filter { Program(named: $0) != nil }

  private func run(
    _ sample: SampleReceipt, shell: String = "dash", _ arguments: [String] = []
  ) throws -> Program.Result {
    let words = (shell == "busybox" ? ["sh"] : []) + [sample.scratch.file("note.verify.sh")]
    return try #require(Program(named: shell)).run(words + arguments, folder: "/")
  }

  @Test("it passes and says what each step shows", arguments: shells)
  func sound(shell: String) throws {
    let sample = try SampleReceipt()
    let result = try run(sample, shell: shell)
    #expect(result.exitCode == 0, "\(result.text)\(result.errorOutput)")
    #expect(result.text.contains("signed   note.receipt.json"))
    #expect(result.text.contains(sample.key.verifyingKey.id.hex))
    #expect(result.text.contains("it's \"one\".m4a: OK"))
    #expect(result.text.contains("whole    every file is as it was signed"))
    #expect(result.errorOutput == "")
  }

  @Test("a key that came another way is taken instead of the one beside it")
  func otherKey() throws {
    let sample = try SampleReceipt()
    let elsewhere = try ScratchFolder()
    let own = try elsewhere.write(sample.key.verifyingKey.pem, to: "own.pub")
    #expect(try run(sample, [own]).exitCode == 0)
    let other = try elsewhere.write(SigningKey().verifyingKey.pem, to: "other.pub")
    let result = try run(sample, [other])
    #expect(result.exitCode == 1)
    #expect(result.text.contains("is not the key that the receipt names"))
    let shell = try #require(Program(named: "dash"))
    let relative = try shell.run(
      [sample.scratch.file("note.verify.sh"), "own.pub"], folder: elsewhere.path)
    #expect(relative.exitCode == 0, "\(relative.text)\(relative.errorOutput)")
  }

  @Test("a changed export is named", arguments: shells)
  func changedExport(shell: String) throws {
    let sample = try SampleReceipt()
    try sample.scratch.write("Sound", to: "note.wav")
    let result = try run(sample, shell: shell)
    #expect(result.exitCode == 1)
    #expect(result.text.contains("note.wav: FAILED"))
    #expect(result.text.contains("BROKEN"))
  }

  @Test("a list of checksums that was made to fit is found")
  func changedList() throws {
    let sample = try SampleReceipt()
    try sample.scratch.write("Sound", to: "note.wav")
    let sums = try #require(Program(named: "sha256sum")).run(
      ["note.wav"], folder: sample.scratch.path)
    try sample.scratch.write(sums.text, to: "note.sha256")
    let result = try run(sample)
    #expect(result.exitCode == 1)
    #expect(result.text.contains("note.sha256 is not the list that was signed"))
  }

  @Test("no flipped bit of a receipt gets past it")
  func changedReceipt() throws {
    let sample = try SampleReceipt()
    let whole = try Data(contentsOf: URL(fileURLWithPath: sample.path))
    for byte in stride(from: 0, to: whole.count - 1, by: whole.count / 12) {
      var bytes = whole
      bytes[byte] ^= 1
      try bytes.write(to: URL(fileURLWithPath: sample.path))
      let result = try run(sample)
      #expect(result.exitCode == 1, "byte \(byte): \(result.text)")
      #expect(result.text.contains("note.receipt.json") || result.text.contains("spool.pub"))
    }
  }

  @Test(
    "base64 with bits that say nothing, and whatever follows the envelope, are refused by both",
    arguments: shells)
  func ambiguous(shell: String) throws {
    let sample = try SampleReceipt()
    let whole = try String(contentsOfFile: sample.path, encoding: .utf8)
    // Sixty-four bytes are 85 letters and one of which only two bits count, before two signs.
    let signature = try #require(whole.range(of: #"[AQgw]==""#, options: .regularExpression))
    let letter = whole[signature.lowerBound]
    let other: Character = letter == "A" ? "B" : letter == "Q" ? "R" : letter == "g" ? "h" : "x"
    var spoiled = whole
    spoiled.replaceSubrange(
      signature.lowerBound...signature.lowerBound, with: String(other))
    for text in [spoiled, whole + "\n", whole + "{}", whole + "\n\n\0", String(whole.dropLast())] {
      try sample.scratch.write(text, to: "note.receipt.json")
      let result = try run(sample, shell: shell)
      #expect(result.exitCode == 1, "\(result.text)")
      #expect(result.text.contains("BROKEN   note.receipt.json"))
      #expect(sample.complaints() == ["receipt note.receipt.json"])
    }
  }

  @Test("the bits of a payload's last letter that say nothing are refused")
  func payloadPadding() throws {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var count = 0
    // Of three lengths in a row, two need padding.
    for length in 1...3 {
      let sample = try SampleReceipt([String(repeating: "n", count: length): "sound"])
      let whole = try String(contentsOfFile: sample.path, encoding: .utf8)
      guard let end = whole.range(of: "=\",\"payloadType\"") else { continue }
      let last = try #require(whole[..<end.lowerBound].lastIndex { $0 != "=" })
      let index = try #require(letters.firstIndex(of: whole[last]))
      var spoiled = whole
      spoiled.replaceSubrange(last...last, with: String(letters[index ^ 1]))
      try sample.scratch.write(spoiled, to: "note.receipt.json")
      let result = try run(sample)
      #expect(result.exitCode == 1, "\(result.text)")
      #expect(sample.complaints() == ["receipt note.receipt.json"])
      count += 1
    }
    #expect(count == 2)
  }

  @Test("it needs no other program than those that it names, with time stamps too")
  func alone() throws {
    let authority = try TimeAuthority()
    let sample = try SampleReceipt()
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: sample.path)))
    let request = TimeStampRequest(for: SHA256.digest(of: bytes))
    let files = try TimeStampReply(try authority.reply(to: request.bytes)).files(
      TrustedCertificates(at: authority.certificates), token: "note.receipt.tsr")
    for (name, bytes) in files {
      try Data(bytes).write(to: URL(fileURLWithPath: sample.scratch.file(name)))
    }
    let bare = try ScratchFolder()
    for name in ["sha256sum", "openssl"] {
      try FileManager.default.createSymbolicLink(
        atPath: bare.file(name), withDestinationPath: try #require(Program(named: name)).path)
    }
    for shell in Self.shells {
      let words = (shell == "busybox" ? ["sh"] : []) + [sample.scratch.file("note.verify.sh")]
      let result = try #require(Program(named: shell)).run(
        words, environment: ["PATH": bare.path, "TMPDIR": bare.path], folder: "/")
      #expect(result.exitCode == 0, "\(shell): \(result.text)\(result.errorOutput)")
      #expect(result.errorOutput == "")
      #expect(result.text.contains("stamped  note.receipt.json was there on "))
      #expect(result.text.contains(" GMT, says the authority"))
    }
  }

  @Test("it says that a time stamp is missing which an authority was asked for")
  func missingStamp() throws {
    let sample = try SampleReceipt(stampCount: 2)
    let result = try run(sample)
    #expect(result.exitCode == 2)
    #expect(result.text.contains("whole    every file is as it was signed"))
    #expect(result.errorOutput.contains(": note.receipt.tsr note.receipt.2.tsr"))
  }

  @Test(
    "it reckons moments as every calendar does",
    arguments: [
      ("Jan  1 00:00:00 1970 GMT", 0), ("Feb 29 08:09:08.5 2024 GMT", 1_709_194_148),
      ("Mar  1 00:00:00 2100 GMT", 4_107_542_400), ("Dec 31 23:59:59 2026 GMT", 1_798_761_599),
    ])
  func moments(text: String, seconds: Int) throws {
    let script = VerificationScript.text(receipt: "a", checksums: "b", key: "c")
    let start = try #require(script.range(of: "seconds() {"))
    let end = try #require(script.range(of: "\n}\n", range: start.upperBound..<script.endIndex))
    for shell in Self.shells {
      let words = (shell == "busybox" ? ["sh"] : []) + ["-c"]
      let result = try #require(Program(named: shell)).run(
        words + [script[start.lowerBound..<end.upperBound] + "seconds \(text)"])
      #expect(result.text == "\(seconds)", "\(shell): \(result.errorOutput)")
    }
  }

  @Test("a receipt that another key signed anew is found, and so is a missing one")
  func forged() throws {
    let sample = try SampleReceipt()
    try sample.scratch.write(
      Envelope(sample.statement.bytes, signedBy: SigningKey()).text,
      to: "note.receipt.json")
    #expect(try run(sample).text.contains("is not the key that the receipt names"))
    try FileManager.default.removeItem(atPath: sample.path)
    let result = try run(sample)
    #expect(result.exitCode == 1)
    #expect(result.text.contains("note.receipt.json is missing"))
  }

  @Test("what is no file is named and not waited for")
  func pipe() throws {
    let sample = try SampleReceipt(["note.wav": "sound"])
    try FileManager.default.removeItem(atPath: sample.scratch.file("note.wav"))
    #expect(unsafe mkfifo(sample.scratch.file("note.wav"), 0o600) == 0)
    let result = try run(sample)
    #expect(result.exitCode == 1)
    #expect(result.text.contains("note.wav is no file"))
  }

  @Test("a long statement goes through the shell whole")
  func long() throws {
    let sample = try SampleReceipt(
      Dictionary(uniqueKeysWithValues: (0..<400).map { ("a rather long name \($0).wav", "\($0)") }))
    let result = try run(sample)
    #expect(result.exitCode == 0, "\(result.errorOutput)")
  }
}
