import Foundation
import TestSupport
import Testing

/// The tree of receipts, held against an independent reading of RFC 6962 and against a store that
/// somebody has tampered with.
@Suite(
  "The ledger finds out what was forgotten, changed or slipped in", .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ReceiptLedgerTests {
  private let place: Workspace
  private let pipeline: String

  init() throws {
    place = try Workspace()
    pipeline = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages: [decode, { export: [wav] }, proof]\n")
  }

  private func run(_ names: [String]) throws {
    for name in names {
      let note = place.file(name + ".wav")
      try Reference.record(note, seconds: 0.3)
      #expect(try place.run(pipeline, [note]).exitCode == 0)
    }
  }

  private func ledger(_ words: String...) throws -> Program.Result {
    try place.spool(["ledger"] + words)
  }

  private func keep(_ name: String) throws -> String {
    try place.folder.write(ledger("head", "--json").text, to: name)
  }

  private func receipt(_ name: String) -> String { place.out + "/\(name).receipt.json" }

  /// Changes the store's database behind the program's back.
  private func tamper(_ statement: String) throws {
    let result = try #require(Program(named: "python3")).run([
      "-c",
      "import sqlite3,sys\nd=sqlite3.connect(sys.argv[1])\nd.execute(sys.argv[2])\nd.commit()",
      place.store + "/spool.sqlite", statement,
    ])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
  }

  @Test("a receipt's proof leads to the root, as a few lines of Python reckon it")
  func inclusion() throws {
    try run(["a", "b", "c", "d", "e"])
    let program = """
      import hashlib, json, sys
      proof = json.loads(sys.argv[1])
      hash = lambda b: hashlib.sha256(b).digest()
      r = hash(b"\\0" + open(sys.argv[2], "rb").read())
      fn, sn = proof["index"], proof["size"] - 1
      for p in map(bytes.fromhex, proof["proof"]):
          if fn & 1 or fn == sn:
              r = hash(b"\\1" + p + r)
              while not fn & 1 and fn: fn >>= 1; sn >>= 1
          else: r = hash(b"\\1" + r + p)
          fn >>= 1; sn >>= 1
      print(sn == 0 and r.hex() == proof["root"])
      """
    for name in ["a", "b", "c", "d", "e"] {
      let proof = try ledger("prove", receipt(name), "--json")
      #expect(proof.exitCode == 0, "\(proof.errorOutput)")
      let check = try #require(Program(named: "python3")).run(
        ["-c", program, proof.text, receipt(name)])
      #expect(check.text == "True\n", "\(check.errorOutput)")
    }
    #expect(try ledger("head").text.hasPrefix("receipts  5\n"))
  }

  @Test("a repeated run adds nothing, and a changed receipt is not in it")
  func once() throws {
    try run(["a"])
    try run(["a"])
    #expect(try ledger("head").text.hasPrefix("receipts  1\n"))
    let path = receipt("a")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[100] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    #expect(try ledger("prove", path).exitCode == 4)
  }

  @Test("a ledger that grew continues a head that was kept; one that was tampered with does not")
  func consistency() throws {
    try run(["a", "b"])
    let early = try keep("early.json")
    try run(["c"])
    let late = try keep("late.json")
    #expect(try ledger("consistency", early).exitCode == 0)
    #expect(try ledger("consistency", early, late).exitCode == 0)
    #expect(try ledger("consistency", "1", "3").exitCode == 0)
    #expect(try ledger("consistency", late, early).exitCode == 2)
    // The one in the middle is forgotten, and the last takes its place.
    try tamper("DELETE FROM receipts WHERE position = 1")
    let forgotten = try ledger("consistency", early)
    #expect(forgotten.exitCode == 4)
    #expect(forgotten.errorOutput.contains("another root"))
    let shorter = try ledger("consistency", late)
    #expect(shorter.exitCode == 4)
    #expect(shorter.errorOutput.contains("has forgotten receipts"))
    // One is slipped in at its place.
    try tamper(
      "INSERT INTO receipts VALUES (1, '\(String(repeating: "0", count: 64))', 'slipped in')")
    #expect(try ledger("consistency", late).exitCode == 4)
  }

  @Test("a head that was changed, or that somebody else signed, is not used")
  func heads() throws {
    try run(["a"])
    let head = try keep("head.json")
    let other = try place.spool(
      ["ledger", "consistency", head], environment: ["SPOOL_KEYS": place.file("stranger")])
    #expect(other.exitCode == 1)
    #expect(other.errorOutput.contains("no key that is trusted here"))
    var text = try String(contentsOfFile: head, encoding: .utf8)
    let index = text.index(text.startIndex, offsetBy: 30)
    text.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
    try place.folder.write(text, to: "head.json")
    #expect(try ledger("consistency", head).exitCode == 1)
    #expect(try ledger("prove").exitCode == 2)
  }
}
