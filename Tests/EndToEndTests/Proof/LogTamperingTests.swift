import Foundation
import TestSupport
import Testing

/// A store that somebody has tampered with, who can write all of it and has no key.
@Suite(
  "The ledger finds out what was forgotten, changed or slipped in", .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct LedgerTamperingTests: LogTrial {
  let place: Workspace
  let pipeline: String

  init() throws { (place, pipeline) = try Self.make() }

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
    for words in [
      ["head", "--json"], ["head"], ["prove", receipt("a")], ["consistency", "1"],
    ] {
      let refused = try place.spool(["proof", "ledger"] + words)
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
        let check = try place.spool(["store", "check"])
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

  @Test(
    "repair puts the ledger back as it was signed last, and says what it did", arguments: damages)
  func mending(damage: (what: String, culprit: String)) throws {
    try run(["a", "b", "c"])
    let whole = try keep("whole.json")
    for statement in damage.what.split(separator: ";") { try tamper(String(statement)) }
    let intent = try place.spool(["store", "repair", "--dry-run"])
    #expect(intent.exitCode == 0)
    #expect(intent.text.contains("put the ledger back as it was signed, with 3 receipts"))
    for verdict in try verdicts() { #expect(verdict.code == 4, "\(verdict.text)") }
    let repair = try place.spool(["store", "repair"])
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
    let repair = try place.spool(["store", "repair"])
    #expect(repair.exitCode == 4)
    #expect(repair.text.contains("only a backup may lead back (spool store restore)"))
    #expect(try place.spool(["store", "check"]).exitCode == 4)
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
    let repair = try place.spool(["store", "repair"])
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
}
