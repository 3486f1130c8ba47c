import Foundation
import Platform
@testable import Proof
import TestSupport
import Testing

@Suite("Verification names what is not as it was signed")
struct VerificationTests {
  private func flip(_ path: String, byte: Int) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[byte] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  private func changed(
    _ json: JSONValue, _ path: ArraySlice<String>, _ change: (JSONValue) -> JSONValue?
  ) -> JSONValue? {
    guard let first = path.first else { return change(json) }
    switch json {
    case .object(var members):
      members[first] = members[first].flatMap { changed($0, path.dropFirst(), change) }
      return .object(members)
    case .list(var list):
      guard let index = Int(first) else { return nil }
      if let value = changed(list[index], path.dropFirst(), change) {
        list[index] = value
      } else {
        list.remove(at: index)
      }
      return .list(list)
    default: return nil
    }
  }

  @Test("what nobody touched is verified")
  func sound() throws {
    let sample = try SampleReceipt()
    let receipt = try #require(sample.check())
    #expect(receipt.problems == [])
    #expect(receipt.fileCount == 5)
    #expect(receipt.stageCount == 3)
    #expect(receipt.sources == ["note.m4a"])
    #expect(receipt.run == "run-1")
  }

  @Test(
    "one flipped bit in any file is found and named",
    arguments: ["note.wav", "it's \"one\".m4a", "spool.pub", "note.verify.sh", "note.sha256"])
  func flippedFile(name: String) throws {
    let sample = try SampleReceipt()
    try flip(sample.scratch.file(name), byte: 3)
    #expect(sample.complaints() == ["file \(name)"])
  }

  @Test("a missing, a longer, a linked and a locked-away file are named")
  func otherFiles() throws {
    let sample = try SampleReceipt(["a": "a", "b": "b", "c": "c", "d": "d"])
    let files = FileManager.default
    try files.removeItem(atPath: sample.scratch.file("a"))
    try sample.scratch.write("bb", to: "b")
    try files.removeItem(atPath: sample.scratch.file("c"))
    try sample.scratch.write("c", to: "elsewhere")
    try files.createSymbolicLink(
      atPath: sample.scratch.file("c"), withDestinationPath: sample.scratch.file("elsewhere"))
    try files.removeItem(atPath: sample.scratch.file("d"))
    #expect(unsafe mkfifo(sample.scratch.file("d"), 0o600) == 0)
    #expect(
      sample.check()?.problems.map { "\($0.name): \($0.reason)" } == [
        "a: it is missing", "b: it has 2 bytes, and 1 were signed",
        "c: it is a link, which is not followed", "d: it is no file",
      ])
  }

  @Test("no flipped bit of a receipt goes unnoticed")
  func flippedReceipt() throws {
    let sample = try SampleReceipt()
    let whole = try Data(contentsOf: URL(fileURLWithPath: sample.path))
    // Every byte is too many; a prime step lands in every part of the line.
    for byte in stride(from: 0, to: whole.count - 1, by: 37) {
      var bytes = whole
      bytes[byte] ^= 1
      try bytes.write(to: URL(fileURLWithPath: sample.path))
      #expect(sample.complaints() != [], "byte \(byte)")
    }
    try (whole + [0x0A]).write(to: URL(fileURLWithPath: sample.path))
    #expect(sample.complaints() == ["receipt note.receipt.json"])
  }

  @Test("a stage that was taken out, changed or moved breaks the chain at its place, whoever signs")
  func chain() throws {
    let sample = try SampleReceipt()
    let stages = ["predicate", "stages"]
    try sample.write(try #require(changed(sample.statement, stages[...] + ["1"]) { _ in nil }))
    #expect(sample.complaints() == ["chain the stage export"])
    try sample.write(
      try #require(
        changed(sample.statement, stages[...] + ["1", "parameters", "frequency"]) { _ in
          .integer(81)
        }))
    #expect(sample.complaints() == ["chain the stage export"])
    try sample.write(try #require(changed(sample.statement, stages[...] + ["2"]) { _ in nil }))
    #expect(
      sample.complaints() == ["chain the end", "file it's \"one\".m4a", "file note.wav"],
      "the stage that gave the files is gone")
    try sample.write(
      try #require(
        changed(sample.statement, ["predicate", "origin", "host", "name"]) { _ in .text("other") }))
    #expect(sample.complaints() == ["chain the stage decode"])
    try sample.write(
      try #require(changed(sample.statement, stages[...]) { .list(($0.list ?? []).reversed()) }))
    #expect(
      sample.complaints() == [
        "chain the stage export", "chain the stage eq", "chain the stage decode", "chain the end",
      ])
  }

  /// Chains a statement anew, as whoever holds the key can.
  private func rechained(_ statement: JSONValue) throws -> JSONValue {
    let origin = try #require(statement["predicate"]?["origin"])
    var previous = origin.chainDigest
    let stages = (statement["predicate"]?["stages"]?.list ?? []).map { stage in
      guard case .object(var members) = stage else { return stage }
      members["previous"] = .text(previous.hex)
      previous = JSONValue.object(members).chainDigest
      return JSONValue.object(members)
    }
    return try #require(
      changed(statement, ["predicate"]) { _ in
        .object(["origin": origin, "stages": .list(stages), "chain": .text(previous.hex)])
      })
  }

  @Test("a stage that the signer himself took out, and chained the rest anew, is missed")
  func rechained() throws {
    let sample = try SampleReceipt()
    #expect(try rechained(sample.statement) == sample.statement)
    let stages = ["predicate", "stages"]
    for (index, culprits) in [
      ("0", ["chain the stage eq"]), ("1", ["chain the stage export"]),
      ("2", ["file it's \"one\".m4a", "file note.wav"]),
    ] {
      let shorter = try #require(
        changed(sample.statement, stages[...] + [index]) { _ in nil })
      try sample.write(rechained(shorter))
      #expect(sample.complaints() == culprits, "without stage \(index)")
    }
    let doubled = try #require(
      changed(sample.statement, stages[...]) { .list(($0.list ?? []) + ($0.list ?? []).suffix(1)) })
    try sample.write(rechained(doubled))
    #expect(sample.complaints() == ["chain the stage export"])
  }

  @Test(
    "a member that no receipt has, or of another kind, is refused even from the signer",
    arguments: [
      (["predicate", "origin", "host"], "statement note.receipt.json"),
      (["predicate", "stages", "1"], "chain the stage eq"),
      (["subject", "0", "annotations"], "statement note.receipt.json"),
    ])
  func strangeMembers(path: [String], culprit: String) throws {
    let sample = try SampleReceipt()
    for (name, value) in [("unheard-of", JSONValue.integer(1)), ("name", .null)] {
      let strange = try #require(
        changed(sample.statement, path[...]) { json in
          guard case .object(var members) = json else { return json }
          members[name] = value
          return .object(members)
        })
      try sample.write(rechained(strange))
      #expect(sample.complaints()?.contains(culprit) == true, "\(name) in \(path)")
    }
  }

  @Test("a time stamp that the statement tells of is missed, unless it is still waited for")
  func expectedStamp() throws {
    let sample = try SampleReceipt()
    let asked = try #require(
      changed(sample.statement, ["predicate", "origin"]) { json in
        guard case .object(var members) = json else { return json }
        members["authorities"] = .list([.text("http://tsa.example.org")])
        return .object(members)
      })
    try sample.write(rechained(asked))
    #expect(sample.complaints() == ["time-stamp note.receipt.tsr"])
    let digest = SHA256.digest(
      of: Array(try Data(contentsOf: URL(fileURLWithPath: sample.path))))
    let waiting = Verification(
      keys: [sample.key.verifyingKey], awaited: [digest: ["note.receipt.tsr"]], threadCount: 1
    ).check([sample.path])?.first
    #expect(waiting?.problems == [])
    #expect(waiting?.awaitedStamps == ["note.receipt.tsr"])
  }

  @Test("a signature by another key, or a payload that was signed otherwise, is refused")
  func signatures() throws {
    let sample = try SampleReceipt()
    let stranger = SigningKey()
    #expect(
      sample.complaints(keys: [stranger.verifyingKey]) == ["key \(sample.key.verifyingKey.id.hex)"])
    #expect(sample.complaints(keys: []) == ["key \(sample.key.verifyingKey.id.hex)"])
    #expect(sample.complaints(keys: [stranger.verifyingKey, sample.key.verifyingKey]) == [])
    // Signed by another key under this one's name.
    let forged = Envelope(sample.statement.bytes, signedBy: stranger).text
      .replacingOccurrences(of: stranger.verifyingKey.id.hex, with: sample.key.verifyingKey.id.hex)
    try sample.scratch.write(forged, to: "note.receipt.json")
    #expect(sample.complaints() == ["signature \(sample.key.verifyingKey.id.hex)"])
    #expect(
      sample.complaints(keys: [stranger.verifyingKey]) == ["key \(sample.key.verifyingKey.id.hex)"])
  }

  @Test("a payload with its fields in another order, with space or with a field twice is refused")
  func payloadForm() throws {
    let sample = try SampleReceipt()
    let text = sample.statement.compact
    let forms = [
      text.replacingOccurrences(of: "{\"_type\":", with: "{ \"_type\":"),
      String(text.dropLast()) + ",\"_type\":\"https://in-toto.io/Statement/v1\"}",
      text.replacingOccurrences(of: "\"revision\":2", with: "\"revision\":2.0"),
      text + "\n",
    ]
    for form in forms {
      // Even its rightful owner does not get it past the reader.
      try sample.scratch.write(
        Envelope(Array(form.utf8), signedBy: sample.key).text, to: "note.receipt.json")
      #expect(sample.complaints() == ["statement note.receipt.json"])
    }
  }

  @Test(
    "an envelope with space, other fields, several signatures or base64 of another kind is none")
  func envelopeForm() throws {
    let sample = try SampleReceipt()
    let text = try String(contentsOfFile: sample.path, encoding: .utf8)
    let forms = [
      text.replacingOccurrences(of: "{\"payload\":", with: "{ \"payload\":"),
      text.replacingOccurrences(of: "\"signatures\":[", with: "\"signatures\":[{},"),
      text.replacingOccurrences(of: "]}", with: "],\"zone\":1}"),
      text.replacingOccurrences(of: "in-toto+json\"", with: "in-toto+xml\""),
      text.replacingOccurrences(of: "{\"payload\":", with: "{\"payload\":\"\",\"payload\":"),
      "[]\n", "", "{}",
    ]
    for form in forms {
      try sample.scratch.write(form, to: "note.receipt.json")
      #expect(sample.complaints() == ["receipt note.receipt.json"], "\(form.prefix(60))")
    }
  }

  @Test("a receipt of 100 MB is refused before it is read")
  func size() throws {
    let sample = try SampleReceipt()
    let file = try #require(FileHandle(forWritingAtPath: sample.path))
    try file.truncate(atOffset: 100 << 20)
    try file.close()
    let problem = try #require(sample.check()?.problems.first)
    #expect(problem.reason == "it has 104857600 bytes, and no more than 16777216 are read")
  }

  @Test(
    "names that lead out of the folder are not followed",
    arguments: ["../secret", "/etc/hostname", "a/../../secret", "", ".", "a//b", "./note.wav"])
  func paths(name: String) throws {
    let sample = try SampleReceipt()
    let path = ["subject", "0", "name"]
    try sample.write(try #require(changed(sample.statement, path[...]) { _ in .text(name) }))
    let problems = try #require(sample.check()?.problems)
    #expect(
      problems.last?.reason == "its name leads out of the receipt's folder; it was not looked at")
    #expect(problems.count == (name.isEmpty ? 2 : 1))
  }

  @Test("the receipt of another recording does not vouch for these files")
  func otherRecording() throws {
    let sample = try SampleReceipt(["note.wav": "this"])
    let other = try SampleReceipt(["note.wav": "that"])
    try FileManager.default.removeItem(atPath: sample.path)
    try FileManager.default.copyItem(atPath: other.path, toPath: sample.path)
    #expect(
      sample.complaints(keys: [other.key.verifyingKey])
        == ["file note.sha256", "file note.wav", "file spool.pub"])
  }

  @Test("a receipt under another name than that of its list is not taken")
  func renamed() throws {
    let sample = try SampleReceipt()
    let path = sample.scratch.file("other.receipt.json")
    try FileManager.default.moveItem(atPath: sample.path, toPath: path)
    let found = Verification(keys: [sample.key.verifyingKey], threadCount: 1).check([path])
    #expect(found?.first?.problems.map(\.name) == ["other.receipt.json"])
  }

  @Test("a folder's receipts are all found, in its folders too, and no link is followed")
  func search() throws {
    let scratch = try ScratchFolder()
    let files = FileManager.default
    try files.createDirectory(
      atPath: scratch.file("a/b"), withIntermediateDirectories: true)
    try scratch.write("", to: "a/b/1.receipt.json")
    try scratch.write("", to: "2.receipt.json")
    try scratch.write("", to: "3.json")
    try files.createSymbolicLink(atPath: scratch.file("c"), withDestinationPath: scratch.file("a"))
    #expect(
      ReceiptSearch(below: scratch.path).receipts
        == [scratch.file("2.receipt.json"), scratch.file("a/b/1.receipt.json")])
  }
}
