import Foundation
import Hashing
import TestSupport
import Testing

@testable import Proof

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

  @Test("a long statement goes through the shell whole")
  func long() throws {
    let sample = try SampleReceipt(
      Dictionary(uniqueKeysWithValues: (0..<400).map { ("a rather long name \($0).wav", "\($0)") }))
    let result = try run(sample)
    #expect(result.exitCode == 0, "\(result.errorOutput)")
  }
}
