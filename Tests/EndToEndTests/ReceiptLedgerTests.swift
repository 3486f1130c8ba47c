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
      "import sqlite3,sys\nd=sqlite3.connect(sys.argv[1])\nd.executescript(sys.argv[2])\nd.commit()",
      place.store + "/spool.sqlite", statement,
    ])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
  }

  /// Puts another size into the head beside the database.
  private func forge(_ size: String) throws {
    let result = try #require(Program(named: "python3")).run([
      "-c",
      """
      import base64, json, re, sys
      head = json.load(open(sys.argv[1]))
      payload = base64.b64decode(head["payload"]).decode()
      payload = re.sub('"size":-?[0-9]+', '"size":' + sys.argv[2], payload)
      head["payload"] = base64.b64encode(payload.encode()).decode()
      json.dump(head, open(sys.argv[1], "w"))
      """, place.store + "/receipts.head.json", size,
    ])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
  }

  /// Changes the list beside the database, and lets the database say how long it is.
  private func tamperLog(_ change: (inout [String]) -> Void) throws {
    let log = URL(fileURLWithPath: place.store + "/receipts.log")
    var lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n").map(String.init)
    change(&lines)
    let text = lines.map { $0 + "\n" }.joined()
    try text.write(to: log, atomically: false, encoding: .utf8)
    try tamper("UPDATE receipt_log SET lines = \(lines.count), byte_count = \(text.utf8.count)")
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
    #expect(other.exitCode == 4)
    #expect(other.errorOutput.contains("no key that is trusted here"))
    var text = try String(contentsOfFile: head, encoding: .utf8)
    let index = text.index(text.startIndex, offsetBy: 30)
    text.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
    try place.folder.write(text, to: "head.json")
    #expect(try ledger("consistency", head).exitCode == 4)
    #expect(try ledger("consistency", place.file("none.json")).exitCode == 1)
    #expect(try ledger("prove").exitCode == 2)
  }

  /// What `spool check` and `spool verify` say of the ledger, with their exit codes.
  private func verdicts() throws -> [(code: Int32, text: String)] {
    try [["check"], ["verify", place.out], ["verify", receipt("a")]].map { words in
      let result = try place.spool(words)
      return (result.exitCode, result.text)
    }
  }

  /// What is done to a ledger of three receipts, and the receipt or the file that is named for it.
  static let damages: [(what: String, culprit: String)] = [
    ("DELETE FROM receipts WHERE position = 1", "b.receipt.json"),
    ("DELETE FROM receipts WHERE position = 2", "c.receipt.json"),
    (
      "UPDATE receipts SET leaf = (CASE WHEN leaf LIKE '0%' THEN '1' ELSE '0' END) || substr(leaf, 2)"
        + " WHERE position = 1",
      "b.receipt.json"
    ),
    ("UPDATE receipts SET leaf = 'no leaf' WHERE position = 1", "b.receipt.json"),
    (
      "INSERT INTO receipts VALUES (3, '\(String(repeating: "0", count: 64))', 'late.receipt.json')",
      "late.receipt.json"
    ),
    (
      "UPDATE receipts SET position = position + 100 WHERE position > 0;"
        + "UPDATE receipts SET position = position - 99 WHERE position > 100;"
        + "INSERT INTO receipts VALUES (1, '\(String(repeating: "0", count: 64))', 'early.receipt.json')",
      "early.receipt.json"
    ),
    (
      "UPDATE receipts SET position = 9 WHERE position = 0;"
        + "UPDATE receipts SET position = 0 WHERE position = 1;"
        + "UPDATE receipts SET position = 1 WHERE position = 9", "b.receipt.json"
    ),
    ("UPDATE receipt_head SET size = 2", "spool.sqlite"),
    ("UPDATE receipt_head SET text = replace(text, 'sig', 'gis')", "spool.sqlite"),
    ("DELETE FROM receipt_head", "spool.sqlite"),
  ]

  @Test(
    "without any head that was kept elsewhere, check and verify name the leaf", arguments: damages)
  func audit(damage: (what: String, culprit: String)) throws {
    try run(["a", "b", "c"])
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
    for statement in damage.what.split(separator: ";") { try tamper(String(statement)) }
    for verdict in try verdicts() {
      #expect(verdict.code == 4, "\(verdict.text)")
      #expect(verdict.text.contains(damage.culprit), "\(verdict.text)")
    }
    // Nobody is given a head, or a proof, of what the head in the store contradicts.
    for words in [["head", "--json"], ["head"], ["prove", receipt("a")], ["consistency", "1"]] {
      let refused = try place.spool(["ledger"] + words)
      #expect(refused.exitCode == 4, "\(words): \(refused.text)")
      #expect(refused.text.isEmpty)
    }
    // What comes later is not signed over it, and says so.
    let note = place.file("d.wav")
    try Reference.record(note, seconds: 0.3)
    let later = try place.run(pipeline, [note])
    #expect(later.exitCode == 1)
    #expect(later.errorOutput.contains("the ledger of receipts is not as it was signed"))
    for verdict in try verdicts() { #expect(verdict.code == 4, "\(verdict.text)") }
  }

  @Test("what was done to the database, the list and the head beside it together is found as well")
  func together() throws {
    try run(["a", "b"])
    let early = try String(contentsOfFile: place.store + "/receipts.head.json", encoding: .utf8)
    try run(["c"])
    let whole = place.file("whole")
    try FileManager.default.copyItem(atPath: place.store, toPath: whole)
    let zeros = String(repeating: "0", count: 64)
    let deeds: [(what: String, culprit: String, deed: () throws -> Void)] = [
      (
        "a path", "b.receipt.json",
        {
          try tamper("UPDATE receipts SET path = '/elsewhere' WHERE position = 1")
          try tamperLog {
            $0[1] = $0[1].split(separator: " ")[..<2].joined(separator: " ") + " \"/elsewhere\""
          }
        }
      ),
      (
        "the last receipt, under the columns of the head before", "receipts.head.json",
        {
          try tamper("DELETE FROM receipts WHERE position = 2; UPDATE receipt_head SET size = 2")
          try tamperLog { $0.removeLast() }
        }
      ),
      (
        "all, as if nothing was ever signed", "receipts.head.json",
        {
          try tamper("DELETE FROM receipts; DELETE FROM receipt_head")
          try tamperLog { $0 = [] }
        }
      ),
      (
        "the head, and the receipts not", "spool.sqlite",
        {
          try tamper("DELETE FROM receipt_head")
          try FileManager.default.removeItem(atPath: place.store + "/receipts.head.json")
        }
      ),
      (
        "one more", "late.receipt.json",
        {
          try tamper("INSERT INTO receipts VALUES (3, '\(zeros)', 'late.receipt.json')")
          try tamperLog { $0.append("3 \(zeros) \"late.receipt.json\"") }
        }
      ),
      (
        "an old head in the database", "spool.sqlite",
        {
          let root = try #require(early.isEmpty ? nil : early)
          try tamper("UPDATE receipt_head SET text = '\(root.dropLast())' || char(10)")
        }
      ),
      (
        "a row in no place", "/evil",
        { try tamper("INSERT INTO receipts VALUES (-1, '\(zeros)', '/evil')") }
      ),
      (
        "a row in the last place", "/evil",
        { try tamper("INSERT INTO receipts VALUES (9223372036854775807, 'zz', '/evil')") }
      ),
      (
        "more in the files, under a head that nobody signed", "receipts.head.json",
        {
          try tamperLog { $0.append("3 \(zeros) \"/evil\"") }
          for size in ["4", "-1"] { try forge(size) }
        }
      ),
      (
        "the list", "receipts.log",
        { try FileManager.default.removeItem(atPath: place.store + "/receipts.log") }
      ),
    ]
    let note = place.file("d.wav")
    try Reference.record(note, seconds: 0.3)
    for (what, culprit, deed) in deeds {
      try FileManager.default.removeItem(atPath: place.store)
      try FileManager.default.copyItem(atPath: whole, toPath: place.store)
      try deed()
      for _ in 1...2 {
        let check = try place.spool(["check"])
        #expect(check.exitCode == 4, "\(what): \(check.text)")
        #expect(check.text.contains(culprit), "\(what): \(check.text)")
        #expect(try place.spool(["verify", place.out]).exitCode == 4, "\(what)")
        // The second time after a run, which signs nothing of it.
        let later = try place.run(pipeline, [note])
        #expect(later.exitCode == 1, "\(what)")
      }
    }
    try FileManager.default.removeItem(atPath: place.store)
    try FileManager.default.copyItem(atPath: whole, toPath: place.store)
    #expect(try place.run(pipeline, [note]).exitCode == 0)
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
  }

  @Test("a store that came back from a backup takes in what the signed files know beyond it")
  func restored() throws {
    try run(["a"])
    let backup = place.file("backup")
    #expect(try place.spool(["backup", backup]).exitCode == 0)
    try run(["b", "c"])
    let late = try keep("late.json")
    let restored = try place.spool(["restore", backup])
    #expect(restored.exitCode == 0, "\(restored.errorOutput)")
    #expect(try place.spool(["runs"]).exitCode == 0)
    // A process was killed between the list and its head.
    try tamperLog { $0.append("3 \(String(repeating: "0", count: 64)) \"unsigned\"") }
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
    try run(["d"])
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
    #expect(try ledger("consistency", late).exitCode == 0)
    #expect(try ledger("head").text.hasPrefix("receipts  4\n"))
    // Nor does it matter whether it came back or was emptied, while the files are there.
    try tamper("DELETE FROM receipts; DELETE FROM receipt_head")
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
    try run(["e"])
    #expect(try ledger("head").text.hasPrefix("receipts  5\n"))
  }

  @Test("a link in the place of a folder hides nothing, and names are what their bytes are")
  func links() throws {
    let names = ["caf\u{e9}", "cafe\u{301}", "日本語の録音", "a\u{202e}b"]
    try run(names)
    let whole = try place.spool(["verify", place.out])
    #expect(whole.exitCode == 0, "\(whole.text)")
    #expect(try place.spool(["verify", receipt(names[2])]).exitCode == 0)
    try FileManager.default.moveItem(atPath: place.out, toPath: place.out + ".x")
    try FileManager.default.createSymbolicLink(
      atPath: place.out, withDestinationPath: place.out + ".x")
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
    try FileManager.default.removeItem(atPath: receipt(names[2]))
    let missed = try place.spool(["verify", place.out])
    #expect(missed.exitCode == 4 && missed.text.contains("it is missing"), "\(missed.text)")
  }

  @Test("a key that does not know who signed the ledger signs nothing in it, until it is told")
  func otherKeys() throws {
    try run(["a"])
    let note = place.file("b.wav")
    try Reference.record(note, seconds: 0.3)
    let keys = ["SPOOL_KEYS": place.file("other-keys")]
    let words = ["run", pipeline, note, "--out", place.out]
    let refused = try place.spool(words, environment: keys)
    #expect(refused.exitCode == 1)
    #expect(refused.errorOutput.contains("spool key import"), "\(refused.errorOutput)")
    for verdict in try verdicts() { #expect(verdict.code == 0 || verdict.text.contains("b.rec")) }
    #expect(
      try place.spool(["key", "import", place.out + "/spool.pub"], environment: keys).exitCode == 0)
    #expect(try place.spool(words, environment: keys).exitCode == 0)
    #expect(try place.spool(["check"], environment: keys).exitCode == 0)
  }

  @Test(
    "repair puts the ledger back as it was signed last, and says what it did", arguments: damages)
  func mending(damage: (what: String, culprit: String)) throws {
    try run(["a", "b", "c"])
    let whole = try keep("whole.json")
    for statement in damage.what.split(separator: ";") { try tamper(String(statement)) }
    let intent = try place.spool(["repair", "--dry-run"])
    #expect(intent.exitCode == 0)
    #expect(intent.text.contains("put the ledger back as it was signed, with 3 receipts"))
    for verdict in try verdicts() { #expect(verdict.code == 4, "\(verdict.text)") }
    let repair = try place.spool(["repair"])
    #expect(repair.text.contains("put the ledger back as it was signed, with 3 receipts"))
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
    #expect(try ledger("consistency", whole).exitCode == 0)
    try run(["d"])
    #expect(try ledger("head").text.hasPrefix("receipts  4\n"))
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
  }

  @Test("where nothing leads to a signed head any more, repair leaves all as it is and says so")
  func unmendable() throws {
    try run(["a", "b", "c"])
    try tamper("DELETE FROM receipts WHERE position = 1")
    let log = URL(fileURLWithPath: place.store + "/receipts.log")
    let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
    try lines.prefix(1).joined().appending("\n").write(to: log, atomically: false, encoding: .utf8)
    let repair = try place.spool(["repair"])
    #expect(repair.exitCode == 4)
    #expect(repair.text.contains("put a backup in its place with spool restore"))
    #expect(try place.spool(["check"]).exitCode == 4)
  }

  @Test("what came after the deed is taken out, and a run that was refused is gone on with")
  func mendingLate() throws {
    try run(["a", "b"])
    let zeros = String(repeating: "0", count: 64)
    try tamper(
      "DELETE FROM receipts WHERE position = 0; INSERT INTO receipts VALUES (2, '\(zeros)', 'late')"
    )
    let note = place.file("c.wav")
    try Reference.record(note, seconds: 0.3)
    #expect(try place.run(pipeline, [note]).exitCode == 1)
    let repair = try place.spool(["repair"])
    #expect(repair.text.contains("late\n  take it out of the ledger"), "\(repair.text)")
    #expect(!place.exports.contains { $0.hasPrefix("c.") })
    try run(["c"])
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
    #expect(try ledger("head").text.hasPrefix("receipts  3\n"))
  }

  @Test("a flipped bit in the signed head or in the log beside the database is named")
  func auditFiles() throws {
    try run(["a", "b"])
    for file in ["receipts.head.json", "receipts.log"] {
      let url = URL(fileURLWithPath: place.store + "/" + file)
      let whole = try Data(contentsOf: url)
      for place in stride(from: 3, to: whole.count, by: whole.count / 6) {
        var bytes = whole
        bytes[place] ^= 1
        try bytes.write(to: url)
        for verdict in try verdicts() {
          #expect(verdict.code == 4, "\(file) \(place): \(verdict.text)")
          #expect(verdict.text.contains(file), "\(verdict.text)")
        }
      }
      try whole.write(to: url)
    }
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
  }

  @Test(
    "a receipt of this place that the ledger never had is found out; a stranger's is not looked for"
  )
  func slippedIn() throws {
    try run(["a"])
    let verified = try place.spool(["verify", place.out])
    #expect(verified.text.contains("ledger: as it was signed, with 1 receipt of these"))
    // The same key signs in another store.
    let other = place.file("other-store")
    let note = place.file("b.wav")
    try Reference.record(note, seconds: 0.3)
    #expect(
      try place.spool(["run", pipeline, note, "--out", place.out, "--store", other]).exitCode == 0)
    let slipped = try place.spool(["verify", place.out])
    #expect(slipped.exitCode == 4)
    #expect(slipped.text.contains("b.receipt.json"), "\(slipped.text)")
    #expect(slipped.text.contains("does not have it"))
    #expect(try place.spool(["verify", receipt("b"), "--store", other]).exitCode == 0)
    #expect(try place.spool(["verify", place.out, "--no-ledger"]).exitCode == 0)
    let none = try place.spool(
      ["verify", place.out], environment: ["SPOOL_STORE": place.file("none")])
    #expect(none.exitCode == 0)
    #expect(none.text.contains("ledger: not checked (no store here)"), "\(none.text)")
    let stranger = try place.spool(
      ["verify", place.out, "--key", place.out + "/spool.pub"],
      environment: ["SPOOL_KEYS": place.file("stranger"), "SPOOL_STORE": place.file("none")])
    #expect(stranger.exitCode == 0, "\(stranger.text)")
  }

  @Test("what was withdrawn is not missed, and is told of with its reason; nothing is forgotten")
  func withdrawn() throws {
    try run(["a", "b"])
    let early = try keep("early.json")
    for name in place.exports where name.hasPrefix("b.") {
      try FileManager.default.removeItem(atPath: place.out + "/" + name)
    }
    #expect(try place.spool(["verify", place.out]).exitCode == 4)
    let stated = try ledger("withdraw", receipt("b"), "--reason", "its speaker asked for it")
    #expect(stated.exitCode == 0, "\(stated.errorOutput)")
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
    let told = try place.spool(["verify", place.out]).text
    #expect(told.contains("b.receipt.json") && told.contains(": its speaker asked for it"))
    #expect(try ledger("consistency", early).exitCode == 0)
    // Once is enough, and a later receipt is missed again.
    #expect(try ledger("withdraw", "b").exitCode == 1)
    #expect(try ledger("withdraw", "c").exitCode == 4)
    #expect(try ledger("head").text.hasPrefix("receipts  2\nwithdrawn 1\n"))
    // A file that lies there is what is meant, and not what once did.
    try place.folder.write("{}", to: "out/b.receipt.json")
    let other = try ledger("withdraw", receipt("b"))
    #expect(
      other.exitCode == 4 && other.errorOutput.contains("another one"), "\(other.errorOutput)")
    try FileManager.default.removeItem(atPath: receipt("b"))
    #expect(try ledger("consistency", "999").exitCode == 2)
    let stranger = try place.spool(
      ["verify", place.out, "--store", place.store, "--key", place.out + "/spool.pub"],
      environment: ["SPOOL_KEYS": place.file("stranger")])
    #expect(stranger.exitCode == 0, "\(stranger.text)")
    try run(["b"])
    try FileManager.default.removeItem(atPath: receipt("b"))
    #expect(try place.spool(["verify", place.out]).exitCode == 4)
    // A withdrawal cannot be taken out again unseen.
    try tamper("DELETE FROM receipts WHERE position = 2")
    let damaged = try place.spool(["check"])
    #expect(damaged.exitCode == 4 && damaged.text.contains("a withdrawal in"), "\(damaged.text)")
  }

  @Test("the files beside a first receipt may lack, as after a kill; with every trace, nothing may")
  func traces() throws {
    try run(["a"])
    for name in ["receipts.log", "receipts.head.json"] {
      try FileManager.default.removeItem(atPath: place.store + "/" + name)
    }
    for verdict in try verdicts() { #expect(verdict.code == 0, "\(verdict.text)") }
    try tamper("DELETE FROM receipts")
    try tamper("DELETE FROM receipt_head")
    let check = try place.spool(["check"])
    #expect(check.exitCode == 4 && check.text.contains("the ledger of receipts is empty"))
    let verified = try place.spool(["verify", place.out])
    #expect(!verified.text.contains("as it was signed"), "\(verified.text)")
  }
}
