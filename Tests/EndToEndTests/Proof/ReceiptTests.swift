import Foundation
import TestSupport
import Testing

/// Real runs write receipts, and the programs that everybody has check them.
@Suite(
  "A receipt is written for what was exported, and anyone can check it", .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ReceiptTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func pipeline() throws -> String {
    try place.pipeline(
      """
      pipeline: proven
      inputs: { note: sound }
      stages:
        - decode
        - normalize: { peak: -3 dB }
        - export: [wav, m4a]
        - proof
      """, named: "proven.yaml")
  }

  private func record(_ name: String = "no'te.wav") throws -> String {
    let path = place.file(name)
    try Reference.record(path, seconds: 0.5)
    return path
  }

  private static let files = [
    "no'te.m4a", "no'te.receipt.json", "no'te.sha256", "no'te.verify.sh", "no'te.wav", "spool.pub",
  ]

  private var receipt: String { place.out + "/no'te.receipt.json" }

  private func verify(_ path: String? = nil, _ options: [String] = []) throws -> Program.Result {
    try place.spool(["verify", path ?? place.out] + options)
  }

  private func script() throws -> Program.Result {
    try #require(Program(named: "dash")).run([place.out + "/no'te.verify.sh"], folder: "/")
  }

  private struct Line: Decodable {
    struct Problem: Decodable {
      let kind: String
      let name: String
    }
    let verified: Bool
    let stages: Int
    let problems: [Problem]
  }

  private func line(_ options: [String] = []) throws -> Line {
    try JSONDecoder().decode(Line.self, from: verify(receipt, ["--json"] + options).output)
  }

  @Test("it passes with spool, with its script, and with openssl and sha256sum by hand")
  func whole() throws {
    let run = try place.run(pipeline(), [record()])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == Self.files)
    let verified = try verify()
    #expect(verified.exitCode == 0, "\(verified.text)\(verified.errorOutput)")
    #expect(verified.text.hasPrefix("verified  "))
    #expect(try line().stages == 3)
    let script = try script()
    #expect(script.exitCode == 0, "\(script.text)\(script.errorOutput)")
    let byHand = try #require(Program(named: "dash")).run(
      [
        "-ec",
        """
        sed 's/.*"payload":"\\([^"]*\\)".*/\\1/' *.receipt.json | openssl base64 -d -A > ../statement
        sed 's/.*"sig":"\\([^"]*\\)".*/\\1/' *.receipt.json | openssl base64 -d -A > ../signature
        { printf 'DSSEv1 28 application/vnd.in-toto+json %d ' "$(wc -c < ../statement)"
          cat ../statement; } > ../signed
        openssl pkeyutl -verify -pubin -inkey spool.pub -rawin -in ../signed -sigfile ../signature
        sha256sum -c *.sha256
        """,
      ], folder: place.out)
    #expect(byHand.exitCode == 0, "\(byHand.text)\(byHand.errorOutput)")
    #expect(byHand.text.contains("Signature Verified Successfully"))
  }

  private struct Envelope: Decodable { let payload: Data }

  private struct Statement: Decodable {
    struct Predicate: Decodable {
      struct Stage: Decodable {
        let id: String
        let outcome: String
        let run: String?
        let program: [String: String]?
        let host: [String: String]?
        let begunAt: String?
        let finishedAt: String?
      }
      struct Origin: Decodable {
        struct Run: Decodable { let id: String }
        let run: Run
        let program: [String: String]
        let host: [String: String]
      }
      let origin: Origin
      let stages: [Stage]
    }
    let predicate: Predicate
  }

  @Test("the receipt of another recording is neither lost nor there before it is written")
  func ofItsOwn() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: short
      inputs: { note: sound }
      stages:
        - decode
        - assert: { duration: < 1 s }
        - export: [wav]
        - proof
      """, named: "short.yaml")
    for name in ["one.wav", "two.wav"] {
      #expect(try place.run(pipeline, [record(name)]).exitCode == 0)
    }
    let why = try place.spool(["why", "last", "proof"]).text
    #expect(
      why.contains("outcome    made") && why.contains("no receipt that says the same was there"),
      "\(why)")
    let long = place.file("long.wav")
    try Reference.record(long, seconds: 2)
    #expect(try place.run(pipeline, [long]).exitCode != 0)
    let proof = try place.spool(["why", "last", "proof"]).text
    #expect(proof.contains("outcome    pending"), "\(proof)")
  }

  @Test("work of an earlier run is stated with that run and its times")
  func reused() throws {
    func statement() throws -> Statement.Predicate {
      let envelope = try JSONDecoder().decode(
        Envelope.self, from: Data(contentsOf: URL(fileURLWithPath: receipt)))
      return try JSONDecoder().decode(Statement.self, from: envelope.payload).predicate
    }
    let note = try record()
    #expect(try place.run(pipeline(), [note]).exitCode == 0)
    let first = try statement()
    #expect(first.stages.allSatisfy { $0.outcome == "made" && $0.run == nil && $0.host == nil })
    try FileManager.default.removeItem(atPath: place.out)
    #expect(try place.run(pipeline(), [note]).exitCode == 0)
    let second = try statement()
    let shown = try place.spool(["runs", "show", second.origin.run.id]).text
    let proof = shown.split(separator: "\n").filter { $0.contains("proof") }
    #expect(proof.allSatisfy { !$0.contains("reused") }, "another receipt was signed")
    #expect(second.origin.run.id != first.origin.run.id)
    for (stage, before) in zip(second.stages, first.stages) where stage.outcome == "reused" {
      #expect(stage.run == first.origin.run.id)
      #expect(stage.program == first.origin.program && stage.host == first.origin.host)
      #expect(stage.begunAt == before.begunAt && stage.finishedAt == before.finishedAt)
    }
    #expect(second.stages.contains { $0.outcome == "reused" })
    #expect(try verify(receipt).exitCode == 0)
  }

  @Test("one flipped bit in any file is found and named by spool, and by the script")
  func flipped() throws {
    _ = try place.run(pipeline(), [record()])
    for name in Self.files {
      let url = URL(fileURLWithPath: place.out + "/" + name)
      let whole = try Data(contentsOf: url)
      var bytes = whole
      // Inside the payload, the base64 of a key, a digest, a comment, and sound.
      bytes[40] ^= 4
      try bytes.write(to: url)
      #expect(try verify().exitCode == 4)
      let problems = try line().problems
      #expect(problems.contains { name.hasSuffix(".receipt.json") || $0.name == name }, "\(name)")
      #expect(!problems.isEmpty)
      let script = try script()
      #expect(script.exitCode != 0, "\(name): \(script.text)")
      #expect(
        script.text.contains(name) || script.errorOutput.contains(name),
        "\(name): \(script.text)\(script.errorOutput)")
      try whole.write(to: url)
    }
    #expect(try verify().exitCode == 0)
  }

  @Test("a run that is repeated leaves the receipt as it is; other work makes another")
  func repeated() throws {
    let note = try record()
    _ = try place.run(pipeline(), [note])
    let first = try place.allExports()
    let again = try place.run(pipeline(), [note])
    #expect(again.files.allSatisfy { $0.wasThere })
    #expect(try place.allExports() == first)
    let other = try place.pipeline(
      try String(contentsOfFile: pipeline(), encoding: .utf8)
        .replacingOccurrences(of: "-3 dB", with: "-6 dB"))
    #expect(try place.run(other, [note]).exitCode == 0)
    #expect(try place.export("no'te.receipt.json") != first["no'te.receipt.json"])
    #expect(try verify().exitCode == 0)
  }

  @Test("killed before any operation, the next run writes the receipt, once and whole")
  func killed() throws {
    let note = try record()
    let pipeline = try pipeline()
    var number = LongTests.areWanted ? 1 : 5
    var kills = 0
    while true {
      let result = try place.spool(
        ["run", pipeline, note, "--out", place.out],
        environment: ["SPOOL_CRASH_BEFORE": "\(number)"])
      guard result.exitCode == 128 + SIGKILL else {
        #expect(result.exitCode == 0, "\(result.errorOutput)")
        break
      }
      kills += 1
      #expect(try place.run(pipeline, [note]).exitCode == 0)
      #expect(place.exports == Self.files, "killed before operation \(number)")
      #expect(try verify().exitCode == 0, "killed before operation \(number)")
      try FileManager.default.removeItem(atPath: place.out)
      try FileManager.default.removeItem(atPath: place.store)
      number += LongTests.areWanted ? 1 : 11
    }
    #expect(kills >= 5)
    #expect(place.exports == Self.files)
  }

  @Test("resume writes the receipt of a run that was cut off before it")
  func resumed() throws {
    let note = try record()
    _ = try place.run(pipeline(), [note])
    let pub = try place.export("spool.pub")
    // A folder stands where the receipt is to go: all is done but that.
    let other = place.file("other")
    try FileManager.default.createDirectory(
      atPath: other + "/no'te.receipt.json", withIntermediateDirectories: true)
    let failed = try place.run(pipeline(), [note], ["--out", other])
    #expect(failed.exitCode == 1)
    #expect(failed.errorOutput.contains("no'te.receipt.json"))
    try FileManager.default.removeItem(atPath: other + "/no'te.receipt.json")
    // Nothing was done, so that only its name brings it back.
    let run = try #require(failed.record)
    #expect(try place.resume(run.id).exitCode == 0)
    #expect(Workspace.names(in: other) == Self.files)
    #expect(try verify(other).exitCode == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: other + "/spool.pub")) == pub)
  }

  @Test("what another key signed counts only where that key is trusted")
  func keys() throws {
    _ = try place.run(pipeline(), [record()])
    let stranger = ["SPOOL_KEYS": place.file("stranger")]
    let refused = try place.spool(["verify", place.out], environment: stranger)
    #expect(refused.exitCode == 4)
    #expect(refused.text.contains("was not signed by a key that is trusted here"))
    #expect(!FileManager.default.fileExists(atPath: place.file("stranger")), "nothing is made")
    let pub = place.out + "/spool.pub"
    #expect(
      try place.spool(["verify", place.out, "--key", pub], environment: stranger).exitCode == 0)
    #expect(try place.spool(["proof", "key", "import", pub], environment: stranger).exitCode == 0)
    #expect(try place.spool(["verify", place.out], environment: stranger).exitCode == 0)
    // An earlier key's signature still counts, and its public key keeps its name in the folder.
    let own = try place.spool(["proof", "key"]).text
    #expect(try place.spool(["proof", "key", "rotate"]).exitCode == 0)
    #expect(
      try place.spool(["proof", "key"]).text.contains(own.replacing("signing", with: "earlier")))
    #expect(try verify().exitCode == 0)
    #expect(try place.run(pipeline(), [record("b.wav")]).exitCode == 0)
    #expect(place.exports.count { $0.hasPrefix("spool") && $0.hasSuffix(".pub") } == 2)
    #expect(try verify().exitCode == 0)
    #expect(try script().exitCode == 0)
  }

  @Test("a signing key that others can read ends the run before its work, with what to do")
  func looseKey() throws {
    let note = try record()
    _ = try place.run(pipeline(), [note])
    let secret = place.keys + "/signing.pem"
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret)
    let run = try place.run(pipeline(), [record("b.wav")])
    #expect(run.exitCode == 1)
    #expect(run.made == [])
    #expect(run.complaint?.next.contains("chmod 600") == true, "\(run.errorOutput)")
  }

  @Test("every file of a batch has its receipt, and one that is taken away is written again")
  func batch() throws {
    let folder = place.file("notes")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["a", "b", "c"] { try Reference.record("\(folder)/\(name).wav", seconds: 0.4) }
    let words = ["batch", try pipeline(), folder, "--out", place.out, "--jobs", "3"]
    #expect(try place.spool(words).exitCode == 0)
    let receipts = ["a.receipt.json", "b.receipt.json", "c.receipt.json"]
    #expect(place.exports.filter { $0.hasSuffix(".receipt.json") } == receipts)
    #expect(try verify().text.contains("3 receipts, 15 files"))
    try FileManager.default.removeItem(atPath: place.out + "/b.receipt.json")
    #expect(try place.spool(words).exitCode == 0)
    #expect(place.exports.filter { $0.hasSuffix(".receipt.json") } == receipts)
    #expect(try verify().exitCode == 0)
  }

  @Test("a pipeline that exports nothing has nothing to prove, and says so")
  func nothing() throws {
    let pipeline = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages: [decode, measure, proof]\n")
    let run = try place.run(pipeline, [record()])
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("the pipeline exports no file"))
  }

  @Test("a folder without receipts, and one that is not there, are no verification")
  func noReceipts() throws {
    _ = try record()
    #expect(try verify(place.folder.path).exitCode == 1)
    #expect(try verify(place.file("none")).exitCode == 2)
  }
}
