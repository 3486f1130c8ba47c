import Foundation
import Platform
import TestSupport
import Testing

@testable import Proof

/// The sample receipt's folder, with the confirmation of a destination in it.
private struct SampleConfirmation {
  let sample: SampleReceipt
  let scratch: ScratchFolder
  let receipt: DeliveryConfirmation.SignedReceipt

  init() throws {
    sample = try SampleReceipt()
    scratch = sample.scratch
    receipt = try #require(DeliveryConfirmation.SignedReceipt(at: sample.path, isInBag: false))
    try write(statement)
  }

  var path: String { scratch.file("note.delivered-nas.json") }

  /// What a destination has whose files lie in its folder `2026/note`, the original below that.
  var statement: JSONValue {
    let names = ["note.wav", "note.receipt.json", "originals/note.m4a"]
    let files = names.map { name in
      let bytes = (try? Data(contentsOf: URL(fileURLWithPath: scratch.file(name)))) ?? Data()
      return DeliveryConfirmation.File(
        path: "2026/note/\(name)", digest: SHA256.digest(of: Array(bytes)), byteCount: bytes.count,
        confirmedAt: 1_790_000_010.5, identifier: "inode 7")
    }
    return DeliveryConfirmation(
      of: files, by: "nas", at: "2026/note/note.delivered-nas.json", for: receipt
    ).json
  }

  func write(_ statement: JSONValue, as name: String = "note.delivered-nas.json") throws {
    try scratch.write(Envelope(statement.bytes, signedBy: sample.key).text, to: name)
  }

  func check(_ path: String? = nil, keys: [VerifyingKey]? = nil) throws -> VerificationResult {
    let verification = Verification(keys: keys ?? [sample.key.verifyingKey], threadCount: 2)
    let checked = verification.check(receipts: [], bags: [], confirmations: [path ?? self.path])
    return try #require(checked?.confirmations.first)
  }

  /// What is wrong with it, as `kind name`.
  func complaints(_ path: String? = nil, keys: [VerifyingKey]? = nil) throws -> [String] {
    try check(path, keys: keys).problems.map { "\($0.kind?.rawValue ?? "-") \($0.name)" }
  }
}

@Suite(
  "A confirmation is as it was signed, of the receipt beside it, and of the files that lie here")
struct ConfirmationTests {
  @Test("a confirmation tells its name beside its receipt, and one that lies leads nowhere")
  func place() throws {
    let file = DeliveryConfirmation.File(
      path: "a.wav", digest: SHA256.digest(of: "a"), byteCount: 1, confirmedAt: 0, identifier: nil)
    func path(_ name: String, by destination: String, beside path: String) throws -> String? {
      let receipt = try DeliveryConfirmation.SignedReceipt(
        jsonText: JSONValue.object([
          "name": .text(name), "sha256": .text(SHA256.digest(of: "r").hex),
        ]).compact)
      let confirmation = DeliveryConfirmation(of: [file], by: destination, at: "x", for: receipt)
      let bytes = Array(confirmation.signed(by: SigningKey()).text.utf8)
      return DeliveryConfirmation(unverified: bytes)?.path(besideReceiptAt: path)
    }
    let name = "ä walk.receipt.json"
    #expect(try path(name, by: "nas", beside: "b/\(name)") == "b/ä walk.delivered-nas.json")
    #expect(try path(name, by: "nas", beside: name) == "ä walk.delivered-nas.json")
    #expect(
      try path("data/\(name)", by: "nas", beside: "b/data/\(name)")
        == "b/ä walk.delivered-nas.json")
    #expect(try path("../\(name)", by: "nas", beside: "b/c/\(name)") == nil)
    #expect(try path(name, by: "nas", beside: "b/x\(name)") == nil)
    #expect(try path(name, by: "../../nas", beside: "b/\(name)") == nil)
    #expect(DeliveryConfirmation(unverified: Array("{}".utf8)) == nil)
  }

  @Test("it is sound, and counts the files that lie as they lay there")
  func sound() throws {
    let confirmation = try SampleConfirmation()
    let result = try confirmation.check()
    #expect(result.isSound, "\(result.problems)")
    #expect(result.destination == "nas" && result.receiptName == "note.receipt.json")
    #expect(result.fileCount == 3 && result.checkedCount == 2)
    #expect(result.confirmedAt == "2026-09-21T14:13:30.500Z")
    #expect(ReceiptSearch(below: confirmation.scratch.path).confirmations == [confirmation.path])
  }

  @Test("an export that its receipt names may lie where the destination has a file of another name")
  func otherNames() throws {
    let confirmation = try SampleConfirmation()
    let file = DeliveryConfirmation.File(
      path: "note.wav", digest: SHA256.digest(of: "the original"), byteCount: 12,
      confirmedAt: 1_790_000_010, identifier: nil)
    try confirmation.write(
      DeliveryConfirmation(
        of: [file], by: "nas", at: "note.delivered-nas.json", for: confirmation.receipt
      ).json)
    let result = try confirmation.check()
    #expect(result.isSound && result.checkedCount == 0, "\(result.problems)")
    try confirmation.scratch.write("neither", to: "note.wav")
    #expect(try confirmation.complaints() == ["file note.wav"])
  }

  @Test("a changed file, a shorter one, and a changed original are named")
  func files() throws {
    let confirmation = try SampleConfirmation()
    try confirmation.scratch.write("SOUND", to: "note.wav")
    #expect(try confirmation.complaints() == ["file note.wav"])
    try confirmation.scratch.write("sou", to: "note.wav")
    #expect(try confirmation.check().problems.first?.reason.contains("3 bytes") == true)
    try confirmation.scratch.write("sound", to: "note.wav")
    try FileManager.default.createDirectory(
      atPath: confirmation.scratch.file("originals"), withIntermediateDirectories: false)
    try confirmation.scratch.write("other", to: "originals/note.m4a")
    #expect(try confirmation.complaints() == ["file originals/note.m4a"])
  }

  @Test(
    "files of other folders of the destination are found in a copy of all of it, and only there")
  func elsewhere() throws {
    let confirmation = try SampleConfirmation()
    func move(_ folder: String) throws -> String {
      try FileManager.default.createDirectory(
        atPath: confirmation.scratch.file("\(folder)/receipt"), withIntermediateDirectories: true)
      for name in ["note.receipt.json", "note.wav"] {
        try? FileManager.default.copyItem(
          atPath: confirmation.scratch.file(name),
          toPath: confirmation.scratch.file("\(folder)/receipt/\(name)"))
      }
      try confirmation.scratch.write("sound", to: "\(folder)/exports-note.wav")
      let statement = DeliveryConfirmation(
        of: [
          DeliveryConfirmation.File(
            path: "a/exports-note.wav", digest: SHA256.digest(of: "other"), byteCount: 5,
            confirmedAt: 1_790_000_010, identifier: nil)
        ], by: "nas", at: "a/receipt/note.delivered-nas.json", for: confirmation.receipt
      ).json
      try confirmation.write(statement, as: "\(folder)/receipt/note.delivered-nas.json")
      return confirmation.scratch.file("\(folder)/receipt/note.delivered-nas.json")
    }
    #expect(try confirmation.complaints(try move("a")) == ["file exports-note.wav"])
    let renamed = try move("b")
    try FileManager.default.moveItem(
      atPath: confirmation.scratch.file("b/receipt"), toPath: confirmation.scratch.file("b/r"))
    #expect(
      try confirmation.check(renamed.replacing("/receipt/", with: "/r/")).checkedCount == 0,
      "the folder around is not the destination's")
  }

  @Test("an unknown key, a changed statement, and another key's name are faults")
  func keys() throws {
    let confirmation = try SampleConfirmation()
    let stranger = SigningKey().verifyingKey
    #expect(try confirmation.complaints(keys: [stranger]).first?.hasPrefix("key ") == true)
    var text = try String(contentsOfFile: confirmation.path, encoding: .utf8)
    let payload = try JSONReader.strictValue(of: Array(text.utf8), depthLimit: 9)
    let statement = Data(base64Encoded: payload["payload"]?.text ?? "") ?? Data()
    let changed = String(decoding: statement, as: UTF8.self).replacing("inode 7", with: "inode 8")
    text = text.replacing(
      payload["payload"]?.text ?? "", with: Data(changed.utf8).base64EncodedString())
    try confirmation.scratch.write(text, to: "note.delivered-nas.json")
    #expect(try confirmation.complaints().first?.hasPrefix("signature ") == true)
  }

  @Test("it was renamed, or put beside another receipt, or its receipt is missing")
  func receipts() throws {
    let confirmation = try SampleConfirmation()
    try confirmation.write(confirmation.statement, as: "note.delivered-cloud.json")
    #expect(
      try confirmation.complaints(confirmation.scratch.file("note.delivered-cloud.json"))
        == ["receipt note.delivered-cloud.json"])
    try confirmation.write(confirmation.statement, as: "note.delivered-nas (2).json")
    #expect(
      try confirmation.complaints(confirmation.scratch.file("note.delivered-nas (2).json")) == [])
    let receipt = try String(contentsOfFile: confirmation.sample.path, encoding: .utf8)
    try FileManager.default.removeItem(atPath: confirmation.sample.path)
    #expect(try confirmation.complaints() == ["receipt note.receipt.json"])
    // As a destination has it that got another version first.
    try confirmation.scratch.write(receipt, to: "note.receipt (2).json")
    try confirmation.sample.write(
      SampleReceipt.receipt(confirmation.sample.subjects, finishedAt: 1_700_000_000).json)
    #expect(try confirmation.complaints() == ["file note.receipt.json"])
    try FileManager.default.removeItem(atPath: confirmation.scratch.file("note.receipt (2).json"))
    #expect(
      try confirmation.complaints() == ["receipt note.receipt.json", "file note.receipt.json"])
  }

  @Test("beside a later receipt of a known key, it confirms an earlier version")
  func earlier() throws {
    let confirmation = try SampleConfirmation()
    try confirmation.scratch.write("retagged", to: "note.wav")
    try confirmation.sample.write(
      SampleReceipt.receipt(confirmation.sample.subjects, finishedAt: 1_790_009_000).json)
    let result = try confirmation.check()
    #expect(result.isSound, "\(result.problems)")
    #expect(
      result.notes.map(\.name) == ["note.receipt.json", "note.wav", "note.receipt.json"],
      "\(result.notes)")
    #expect(result.notes.first?.reason.contains("earlier version") == true)
  }

  @Test("of files that were delivered without their receipt, that is not missed in a copy")
  func withoutReceipt() throws {
    let confirmation = try SampleConfirmation()
    let file = DeliveryConfirmation.File(
      path: "note.wav", digest: SHA256.digest(of: "sound"), byteCount: 5,
      confirmedAt: 1_790_000_010, identifier: nil)
    try confirmation.write(
      DeliveryConfirmation(
        of: [file], by: "nas", at: "note.delivered-nas.json", for: confirmation.receipt
      ).json)
    try FileManager.default.removeItem(atPath: confirmation.sample.path)
    let result = try confirmation.check()
    #expect(result.isSound && result.notes.count == 1 && result.checkedCount == 1)
  }

  @Test(
    "names that lead elsewhere, other forms, and what is none are refused",
    arguments: ["../note.wav", "/etc/passwd", "a//b", "a/./b", "a\u{0}b"])
  func hostile(_ name: String) throws {
    let confirmation = try SampleConfirmation()
    let file = DeliveryConfirmation.File(
      path: name, digest: SHA256.digest(of: "x"), byteCount: 1, confirmedAt: 1_790_000_010,
      identifier: nil)
    try confirmation.write(
      DeliveryConfirmation(
        of: [file], by: "nas", at: "note.delivered-nas.json", for: confirmation.receipt
      ).json)
    #expect(try confirmation.complaints() == ["file \(name)"])
    for text in ["", "{}", "[]", String(repeating: "[", count: 9000), "\u{FEFF}{}"] {
      try confirmation.scratch.write(text, to: "note.delivered-nas.json")
      #expect(try confirmation.complaints() == ["receipt note.delivered-nas.json"])
    }
    try confirmation.write(.object(["_type": .text(Receipt.statementType)]))
    #expect(try confirmation.complaints() == ["statement note.delivered-nas.json"])
  }

  @Test("the schema that lies beside the article is the shape that they are held against")
  func shipped() throws {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources/spool/Spool.docc/Resources/confirmation.schema.json")
    let shipped = try JSONReader.strictValue(of: Array(try Data(contentsOf: path)), depthLimit: 64)
    #expect(
      shipped == DeliveryConfirmation.schema, "spool pipeline schema confirmation prints it anew")
  }
}
