import Foundation
import TestSupport
import Testing

@Suite("What takes the place of signed files is told of") struct ReplacedReceiptTests {
  private let place: Workspace
  private let sound: String

  init() throws {
    place = try Workspace()
    sound = place.file("note.wav")
    try Reference.record(sound, seconds: 0.5)
  }

  private func pipeline(gain: String) throws -> String {
    try place.pipeline(
      """
      pipeline: signed
      inputs: { note: sound }
      stages:
        - decode
        - gain: \(gain)
        - export: [wav]
        - proof
      """)
  }

  private func digest(_ name: String) throws -> String {
    let program = try #require(Program(named: "sha256sum"))
    return String(try program.run([place.out + "/" + name]).text.prefix(64))
  }

  @Test("a receipt of another signer is named as that, and stays")
  func otherSigner() throws {
    let pipeline = try pipeline(gain: "-3 dB")
    try #require(place.run(pipeline, [sound]).exitCode == 0)
    let before = try digest("note.receipt.json")
    let own = ["SPOOL_STORE": place.file("other"), "SPOOL_KEYS": place.file("own")]
    let key = try place.folder.write(
      place.spool(["proof", "key", "export"]).text, to: "other.pub")
    try #require(place.spool(["proof", "key", "import", key], environment: own).exitCode == 0)
    let run = try place.spool(
      ["run", pipeline, sound, "--out", place.out], environment: own)
    #expect(run.exitCode == 1)
    #expect(
      run.errorOutput.contains("note.receipt.json is a receipt of another signer"),
      "\(run.errorOutput)")
    #expect(run.errorOutput.contains("the imported key"), "\(run.errorOutput)")
    #expect(try digest("note.receipt.json") == before)
  }

  @Test("a plan and the reasons of a run say what becomes of a receipt")
  func planned() throws {
    let pipeline = try pipeline(gain: "-3 dB")
    let plan = ["pipeline", "plan", pipeline, sound, "--out", place.out]
    #expect(try place.spool(plan).text.contains("receipt   note.receipt.json is signed"))
    try #require(place.run(pipeline, [sound]).exitCode == 0)
    let done = try place.spool(plan).text
    #expect(done.contains("note.receipt.json stays if it says the same at the end"), "\(done)")
    #expect(done.contains("nothing to do: everything is in the store and in the output folder"))
    try FileManager.default.removeItem(atPath: place.out + "/note.receipt.json")
    let missing = try place.spool(plan).text
    #expect(missing.contains("receipt   note.receipt.json is signed"), "\(missing)")
    #expect(!missing.contains("nothing to do") && !missing.contains("proof"), "\(missing)")
    // What it says has changed: nothing that was not there.
    try #require(place.run(pipeline, [sound]).exitCode == 0)
    try #require(
      place.spool(["convert", sound, "-o", place.file("t.wav"), "--title", "T"]).exitCode == 0)
    try FileManager.default.removeItem(atPath: sound)
    try FileManager.default.moveItem(atPath: place.file("t.wav"), toPath: sound)
    let again = try place.run(pipeline, [sound])
    #expect(again.step("proof")?.outcome == "made", "\(again.errorOutput)")
    let why = try place.spool(["why", "last"]).text
    #expect(why.contains("no receipt that says the same was there"), "\(why)")
  }

  @Test("a receipt that is signed again names what it replaced, and its stage is done")
  func signedAgain() throws {
    #expect(try place.run(try pipeline(gain: "-3 dB"), [sound]).made.last == "proof")
    let before = try (export: digest("note.wav"), receipt: digest("note.receipt.json"))
    let again = try place.run(try pipeline(gain: "-6 dB"), [sound])
    #expect(again.made == ["gain", "export", "proof"], "\(again.errorOutput)")
    #expect(again.step("proof")?.outcome == "made")

    struct Envelope: Decodable { let payload: Data }
    struct Statement: Decodable {
      struct Predicate: Decodable { let origin: Origin }
      struct Origin: Decodable { let replaced: [File]? }
      struct File: Decodable {
        let name: String
        let digest: [String: String]
      }
      let predicate: Predicate
    }
    let bytes = try Data(contentsOf: URL(filePath: place.out + "/note.receipt.json"))
    let payload = try JSONDecoder().decode(Envelope.self, from: bytes).payload
    let replaced = try JSONDecoder().decode(Statement.self, from: payload).predicate.origin.replaced
    let found = (replaced ?? []).map { [$0.name, $0.digest["sha256"] ?? ""] }
    #expect(
      found == [["note.receipt.json", before.receipt], ["note.wav", before.export]], "\(found)")
    #expect(try place.spool(["verify", place.out]).exitCode == 0)

    let shown = try place.spool(
      ["run", try pipeline(gain: "-9 dB"), sound, "--out", place.out])
    #expect(shown.text.contains(/\n  proof +done/), "\(shown.text)")
    #expect(try place.run(try pipeline(gain: "-9 dB"), [sound]).made.isEmpty)
  }

  @Test("a command that writes over a signed file names the receipt that this breaks")
  func broken() throws {
    #expect(try place.run(try pipeline(gain: "-3 dB"), [sound]).exitCode == 0)
    let receipt = place.out + "/note.receipt.json"
    func isWarned(_ arguments: [String]) throws -> Bool {
      let result = try place.spool(arguments)
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      return result.errorOutput.contains("warning: ") && result.errorOutput.contains(receipt)
    }
    let export = place.out + "/note.wav"
    #expect(try isWarned(["normalize", sound, "-o", export, "--replace"]))
    #expect(try place.spool(["verify", place.out]).exitCode == 4)
    let plain = try place.pipeline(
      """
      pipeline: plain
      inputs: { note: sound }
      stages: [decode, { export: [wav] }]
      """, named: "plain.yaml")
    #expect(try isWarned(["run", plain, sound, "--out", place.out, "--replace"]))
    // The run that signs it makes it whole again, and there is nothing to warn of.
    #expect(
      try !isWarned(
        ["run", try pipeline(gain: "-3 dB"), sound, "--out", place.out, "--replace"]))
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
  }

  @Test("a batch that writes over signed files names the receipts that this breaks")
  func brokenByBatch() throws {
    let folder = place.file("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["one", "two"] { try Reference.record("\(folder)/\(name).wav", seconds: 0.5) }
    let plain = try place.pipeline(
      """
      pipeline: plain
      inputs: { note: sound }
      stages: [decode, { export: [wav] }]
      """, named: "plain.yaml")
    func batch(_ pipeline: String, _ options: [String]) throws -> Program.Result {
      let done = try place.spool(["batch", pipeline, folder, "--out", place.out] + options)
      #expect(done.exitCode == 0, "\(done.errorOutput)")
      return done
    }
    let signed = try pipeline(gain: "-3 dB")
    #expect(try !batch(signed, []).errorOutput.contains("warning: "))
    let told = try batch(plain, ["--replace"]).errorOutput
    for name in ["one", "two"] {
      #expect(told.contains("what the receipt \(place.out)/\(name).receipt.json signs"), "\(told)")
    }
    #expect(try !batch(signed, ["--replace"]).errorOutput.contains("warning: "))
    let again = try batch(plain, ["--replace", "--json"])
    let events = again.text.split(separator: "\n").filter { $0.contains(#""event":"warning""#) }
    #expect(events.count == 2 && again.errorOutput == "", "\(again.text)\(again.errorOutput)")
    #expect(events.allSatisfy { $0.contains(".receipt.json signs") && $0.contains(#""path":""#) })
  }

  @Test("a receipt that another pipeline's is called like is refused before any work, or told of")
  func otherPipeline() throws {
    #expect(try place.run(try pipeline(gain: "-3 dB"), [sound]).exitCode == 0)
    let second = try place.folder.write(
      """
      pipeline: second
      inputs: { note: sound }
      stages:
        - decode
        - gain: -9 dB
        - export: { formats: [flac], name: "{stem}.second" }
        - proof
      """, to: "second.yaml")
    let plan = try place.spool(["pipeline", "plan", second, sound, "--out", place.out])
    #expect(plan.text.contains("It would be refused: proof: "), "\(plan.text)")
    let refused = try place.run(second, [sound])
    #expect(refused.exitCode == 1 && refused.made == [], "\(refused.errorOutput)")
    let complaint = try #require(Complaint(refused.errorOutput), "\(refused.errorOutput)")
    #expect(complaint.what.contains("was made by another pipeline"), "\(complaint)")
    #expect(refused.errorOutput.contains("name: \"{stem}.second\""), "\(refused.errorOutput)")
    #expect(!FileManager.default.fileExists(atPath: place.out + "/note.second.flac"))
    let replaced = try place.run(second, [sound], ["--replace"])
    #expect(replaced.exitCode == 0, "\(replaced.errorOutput)")
    #expect(
      replaced.warnings.contains { $0.contains("note.wav is covered by no receipt any more") },
      "\(replaced.warnings)")
    #expect(try place.spool(["verify", place.out]).exitCode == 0)
  }
}
