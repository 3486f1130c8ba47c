import Foundation
import TestSupport
import Testing

/// The tree of receipts, held against an independent reading of RFC 6962.
@Suite(
  "The ledger proves what it holds, and misses what is gone", .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ReceiptLedgerTests: LogTrial {
  let place: Workspace
  let pipeline: String

  init() throws { (place, pipeline) = try Self.make() }

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
      ["proof", "ledger", "consistency", head], environment: ["SPOOL_KEYS": place.file("stranger")])
    #expect(other.exitCode == 4)
    #expect(other.errorOutput.contains("which signed it, is not trusted here"))
    var text = try String(contentsOfFile: head, encoding: .utf8)
    let index = text.index(text.startIndex, offsetBy: 30)
    text.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
    try place.folder.write(text, to: "head.json")
    #expect(try ledger("consistency", head).exitCode == 4)
    #expect(try ledger("consistency", place.file("none.json")).exitCode == 2)
    #expect(try ledger("prove").exitCode == 2)
  }

  @Test("a store that came back from a backup takes in what the signed files know beyond it")
  func restored() throws {
    try run(["a"])
    let backup = place.file("backup")
    #expect(try place.spool(["store", "backup", backup]).exitCode == 0)
    try run(["b", "c"])
    let late = try keep("late.json")
    // A process was killed between the list and its head.
    try tamperLog { $0.append("3 \(String(repeating: "0", count: 64)) \"unsigned\"") }
    let restored = try place.spool(["store", "restore", backup])
    #expect(restored.exitCode == 0, "\(restored.errorOutput)")
    #expect(try place.spool(["runs"]).exitCode == 0)
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

  @Test("a backup that is put beside saved artifacts brings the ledger along")
  func restoredBesideArtifacts() throws {
    try run(["a", "b"])
    let backup = place.file("backup")
    #expect(try place.spool(["store", "backup", backup]).exitCode == 0)
    let store = place.file("saved")
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: place.store + "/artifacts", toPath: store + "/artifacts")
    let restored = try place.spool(["store", "restore", backup, "--store", store])
    #expect(restored.exitCode == 0 && restored.errorOutput == "", "\(restored.errorOutput)")
    #expect(try place.spool(["store", "check", "--store", store]).exitCode == 0)
    #expect(try place.spool(["verify", place.out, "--store", store]).exitCode == 0)
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

  @Test("by whichever links one comes to a folder, what was taken out of it is missed")
  func manyLinks() throws {
    let disk = place.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: place.file("data"), withDestinationPath: "disk")
    let out = place.file("data/exports")
    func run(_ name: String) throws {
      let note = place.file(name + ".wav")
      try Reference.record(note, seconds: 0.3)
      #expect(
        try place.spool(["run", pipeline, note, "--out", out]).exitCode == 0)
    }
    try run("a")
    try run("b")
    // Moved to another disk, with a link in its place, and used on.
    try FileManager.default.moveItem(atPath: disk + "/exports", toPath: place.file("big"))
    try FileManager.default.createSymbolicLink(
      atPath: disk + "/exports", withDestinationPath: "../big")
    #expect(try place.spool(["verify", out]).text.contains("moved:") == false)
    let moved = try place.spool(["verify", place.file("big")])
    #expect(moved.exitCode == 0 && moved.text.contains("moved:"), "\(moved.text)")
    try run("c")
    for folder in [out, place.file("big")] {
      #expect(try place.spool(["verify", folder]).exitCode == 0)
    }
    try FileManager.default.removeItem(atPath: place.file("big/b.receipt.json"))
    #expect(try place.spool(["verify", out]).exitCode == 4)
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
    #expect(refused.errorOutput.contains("spool proof key import"), "\(refused.errorOutput)")
    let untold = try place.spool(["store", "check"], environment: keys)
    #expect(untold.exitCode == 1 && untold.text.contains("could not be checked"), "\(untold.text)")
    #expect(try place.spool(["store", "repair"], environment: keys).exitCode == 0)
    for verdict in try verdicts() { #expect(verdict.code == 0 || verdict.text.contains("b.rec")) }
    #expect(
      try place.spool(["proof", "key", "import", place.out + "/spool.pub"], environment: keys)
        .exitCode == 0)
    #expect(try place.spool(words, environment: keys).exitCode == 0)
    #expect(try place.spool(["store", "check"], environment: keys).exitCode == 0)
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
    let damaged = try place.spool(["store", "check"])
    #expect(damaged.exitCode == 4 && damaged.text.contains("a withdrawal in"), "\(damaged.text)")
  }

  @Test("a receipt is withdrawn by the path that was typed, although its folder has gone since")
  func withdrawnElsewhere() throws {
    try run(["a", "b"])
    try FileManager.default.moveItem(atPath: place.out, toPath: place.file("archive"))
    let stated = try ledger("withdraw", "out/b.receipt.json")
    #expect(stated.exitCode == 0, "\(stated.errorOutput)")
    let full = try ledger("withdraw", receipt("a"))
    #expect(full.exitCode == 0, "\(full.errorOutput)")
  }

  @Test("what was withdrawn and still lies there is written anew by the next run, once")
  func withdrawnAndUsedAgain() throws {
    try run(["a"])
    #expect(try ledger("withdraw", receipt("a")).exitCode == 0)
    let before = try Data(contentsOf: URL(fileURLWithPath: receipt("a")))
    for _ in 1...2 {
      try run(["a"])
      #expect(try place.spool(["verify", place.out]).exitCode == 0)
      #expect(try ledger("head").text.hasPrefix("receipts  2\nwithdrawn 1\n"))
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: receipt("a"))) != before)
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
    let check = try place.spool(["store", "check"])
    #expect(check.exitCode == 4 && check.text.contains("the ledger of receipts is empty"))
    // Nor does the next run begin another ledger.
    let note = place.file("b.wav")
    try Reference.record(note, seconds: 0.3)
    let later = try place.run(pipeline, [note])
    #expect(later.exitCode == 1 && later.errorOutput.contains("not the one that there was"))
    let verified = try place.spool(["verify", place.out])
    #expect(!verified.text.contains("as it was signed"), "\(verified.text)")
  }
}
