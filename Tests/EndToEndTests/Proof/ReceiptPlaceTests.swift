import Foundation
import TestSupport
import Testing

/// Receipts that are whole in themselves, and lie where they do not belong.
@Suite(
  "A receipt vouches for nothing in the place of another", .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ReceiptPlaceTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func run(
    _ names: [String], format: String = "wav", proof: String = "proof", to out: String? = nil
  ) throws {
    let pipeline = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages: [decode, { export: [\(format)] }, \(proof)]\n")
    for name in names {
      let note = place.file(name + ".wav")
      if !FileManager.default.fileExists(atPath: note) {
        try Reference.record(note, seconds: 0.3)
      }
      let run = try place.run(pipeline, [note], out.map { ["--out", $0] } ?? [])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
    }
  }

  private func copy(_ words: String...) throws {
    let result = try #require(Program(named: "cp")).run(["-a"] + words, folder: place.folder.path)
    #expect(result.exitCode == 0, "\(result.errorOutput)")
  }

  private func expectBroken(_ words: [String], _ reason: String) throws {
    let result = try place.spool(["verify"] + words)
    #expect(result.exitCode == 4, "\(result.text)")
    #expect(result.text.contains("BROKEN    \(words[0].hasSuffix("json") ? words[0] : "out/a.")"))
    #expect(result.text.contains(reason), "\(result.text)")
  }

  @Test(
    "what a receipt covers is not replaced by another recording that took the name of the first")
  func otherRecording() throws {
    try run(["a"])
    let before = try Data(contentsOf: URL(fileURLWithPath: place.out + "/a.wav"))
    try Reference.record(place.file("a.wav"), seconds: 0.4)
    let pipeline = place.file("pipeline.yaml")
    let refused = try place.run(pipeline, [place.file("a.wav")])
    #expect(refused.exitCode == 1)
    let complaint = try #require(Complaint(refused.errorOutput), "\(refused.errorOutput)")
    #expect(complaint.what.contains("was made of another recording"), "\(complaint)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: place.out + "/a.wav")) == before)
    #expect(try place.spool(["verify", "out"]).exitCode == 0)
    // Asked to, it is replaced, and the new receipt says so.
    #expect(try place.run(pipeline, [place.file("a.wav")], ["--replace"]).exitCode == 0)
    #expect(try place.spool(["verify", "out"]).exitCode == 0)
  }

  @Test("several receipts and folders are checked at once, each receipt once")
  func several() throws {
    try run(["a", "b"])
    try copy("out", "copy")
    let sound = try place.spool(["verify", "out/a.receipt.json", "copy", "out"])
    #expect(sound.exitCode == 0 && sound.text.contains("4 receipts"), "\(sound.text)")
    try Data("edited".utf8).write(to: URL(fileURLWithPath: place.file("copy/b.wav")))
    #expect(try place.spool(["verify", "out"]).exitCode == 0)
    let broken = try place.spool(["verify", "out", "copy"])
    #expect(broken.exitCode == 4 && broken.text.contains("BROKEN    copy/b."), "\(broken.text)")
    // A folder without a receipt is not passed over because another one has some.
    try FileManager.default.createDirectory(
      atPath: place.file("empty"), withIntermediateDirectories: false)
    let empty = try place.spool(["verify", "out", "empty"])
    #expect(empty.exitCode == 1, "\(empty.text)")
    #expect(
      Complaint(empty.errorOutput)?.what == "there is no receipt in empty", "\(empty.errorOutput)")
  }

  @Test(
    "a copy of a folder with its receipts is taken as made, and the receipts stay",
    arguments: ["proof", "{ proof: { place: folder } }"])
  func copied(proof: String) throws {
    try run(["a", "b"], proof: proof)
    try copy("out", "copy")
    let before = try Workspace.listing(of: place.file("copy"))
    let pipeline = place.file("pipeline.yaml")
    // With the work still known, and after it was forgotten.
    for clearing in [[], ["store", "gc", "--older-than", "0s", "--grace", "0s"]] {
      if !clearing.isEmpty { #expect(try place.spool(clearing).exitCode == 0) }
      for name in ["a", "b"] {
        for folder in ["copy", "out"] {
          let result = try place.spool(
            ["run", pipeline, place.file(name + ".wav"), "--out", place.file(folder), "-q"])
          #expect(result.exitCode == 0, "\(folder): \(result.errorOutput)")
        }
      }
      #expect(try Workspace.listing(of: place.file("copy")) == before)
      #expect(try Workspace.listing(of: place.out) == before)
    }
    #expect(try place.spool(["verify", "copy"]).exitCode == 0)
  }

  @Test("another recording's receipt, and an earlier one, are found out in the place of one")
  func places() throws {
    try run(["a", "b"])
    try copy("out", "whole")
    // By the name that the receipt itself states, without any ledger; and by the ledger.
    try copy("out/b.receipt.json", "out/a.receipt.json")
    for words in [["out"], ["out/a.receipt.json"], ["out", "--no-ledger"]] {
      try expectBroken(words, "it is the receipt b.receipt.json")
    }
    try expectBroken(["out"], "it was written as")
    try copy("whole/a.receipt.json", "out/a.receipt.json")
    #expect(try place.spool(["verify", "out"]).exitCode == 0)
    // In another folder, which the ledger does not know.
    try copy("whole", "elsewhere")
    try FileManager.default.moveItem(
      atPath: place.file("elsewhere/a.receipt.json"),
      toPath: place.file("elsewhere/c.receipt.json"))
    try expectBroken(["elsewhere/c.receipt.json"], "it is the receipt a.receipt.json")
    // Put back to how it was on an earlier day.
    try FileManager.default.removeItem(atPath: place.out)
    try run(["a", "b"], format: "flac")
    try copy("whole/.", "out")
    try expectBroken(["out"], "it is an earlier one, and another receipt was written here")
  }

  @Test("of a folder that was moved, a receipt that did not come along is told")
  func leftBehind() throws {
    try run(["a", "b"])
    try FileManager.default.moveItem(atPath: place.out, toPath: place.file("moved"))
    #expect(try !place.spool(["verify", "moved"]).text.contains("absent"))
    try FileManager.default.removeItem(atPath: place.file("moved/b.receipt.json"))
    for words in [["verify", "moved"], ["verify", "moved", "--quiet"]] {
      let result = try place.spool(words)
      #expect(result.exitCode == 0)
      #expect(
        result.text.contains("absent: \(place.out)/b.receipt.json, written"), "\(result.text)")
    }
    let json = try place.spool(["verify", "moved", "--json"]).text
    #expect(json.contains("\"absent\":[\"\(place.out)/b.receipt.json\"]"), "\(json)")
    // Nothing is said of another folder that went elsewhere.
    for name in ["one", "two"] {
      let target = place.file("\(name)-moved")
      for folder in [place.file("tree"), target] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      }
      try run([name], to: place.file("tree/\(name)"))
      try FileManager.default.moveItem(
        atPath: place.file("tree/\(name)"), toPath: "\(target)/\(name)")
    }
    let part = try place.spool(["verify", "one-moved/one"])
    #expect(part.exitCode == 0 && part.text.contains("moved:"), "\(part.text)")
    #expect(!part.text.contains("absent"), "\(part.text)")
  }

  @Test(
    "in a folder of its own, with or without the script, a receipt verifies, is quoted and replaced",
    arguments: ["{ place: folder }", "{ place: folder, script: false }", "{ script: false }"])
  func ownFolder(settings: String) throws {
    func pipeline(_ gain: String) throws -> String {
      try place.pipeline(
        "pipeline: p\ninputs: { note: sound }\n"
          + "stages: [decode, { gain: \(gain) }, { export: [wav] }, { proof: \(settings) }]\n")
    }
    try Reference.record(place.file("a.wav"), seconds: 3)
    try Reference.record(place.file("b.wav"), seconds: 1)
    for name in ["a.wav", "b.wav"] {
      #expect(try place.run(try pipeline("0 dB"), [place.file(name)]).exitCode == 0)
    }
    let (isOwn, hasScript) = (settings.contains("place"), !settings.contains("script"))
    let folder = isOwn ? "receipts/" : ""
    let companions = ["a.receipt.json"] + (hasScript ? ["a.sha256", "a.verify.sh"] : [])
    #expect(
      Workspace.names(in: place.out + "/" + folder).filter { !$0.hasPrefix("b.") && $0 != "a.wav" }
        == companions + ["spool.pub"])
    #expect(Workspace.names(in: place.out).filter { $0.hasSuffix(".wav") } == ["a.wav", "b.wav"])
    let receipt = "out/\(folder)a.receipt.json"
    for words in [["out"], [receipt], ["out", "--no-ledger"]] {
      let result = try place.spool(["verify"] + words)
      #expect(result.exitCode == 0, "\(words): \(result.text)\(result.errorOutput)")
    }
    if hasScript {
      let script = try #require(Program(named: "dash")).run(
        [place.file("out/\(folder)a.verify.sh")], folder: "/")
      #expect(script.exitCode == 0, "\(script.text)\(script.errorOutput)")
    }
    for source in ["out/a.wav", receipt] {
      let quote = try place.spool(
        [
          "proof", "quote", source, "--from", "0:01", "--to", "0:02", "--out",
          "quote-\(source.count)",
        ])
      #expect(quote.exitCode == 0, "\(quote.errorOutput)")
      #expect(try place.spool(["verify", "quote-\(source.count)"]).exitCode == 0)
    }
    // Replaced by the same pipeline's next run, and found out in the place of another.
    #expect(try place.run(try pipeline("-1 dB"), [place.file("a.wav")]).exitCode == 0)
    #expect(try place.spool(["verify", "out"]).exitCode == 0)
    try copy("out/\(folder)b.receipt.json", receipt)
    try expectBroken([receipt, "--no-ledger"], "it is the receipt \(folder)b.receipt.json")
    #expect(
      try place.run(try pipeline("-1 dB"), [place.file("a.wav")], ["--replace"]).exitCode == 0)
    guard isOwn else { return }
    try copy(receipt, "out/a.receipt.json")
    try expectBroken(["out/a.receipt.json"], "it was moved out of the folder receipts")
  }

  @Test("without a proof stage there is no receipt, and a bag has folders of its own")
  func unasked() throws {
    try Reference.record(place.file("a.wav"), seconds: 0.3)
    let plain = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages: [decode, { export: [wav] }]\n")
    #expect(try place.run(plain, [place.file("a.wav")]).exitCode == 0)
    #expect(place.exports == ["a.wav"])
    let both = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\n"
        + "stages: [decode, { export: [wav] }, { proof: { bag: true, place: folder } }]\n")
    let refused = try place.run(both, [place.file("a.wav")])
    #expect(refused.exitCode == 2)
    #expect(refused.errorOutput.contains("a bag has folders of its own"), "\(refused.errorOutput)")
  }

  @Test("a receipt that its key signed outside is missed, whatever became of the key's file")
  func keys() throws {
    try run(["a"])
    // The same key signs in another store, as whoever has the key can sign anything.
    let other = try place.spool(
      ["run", "pipeline.yaml", "a.wav", "--out", "foreign", "--store", place.file("other"), "-q"])
    #expect(other.exitCode == 0, "\(other.errorOutput)")
    let key = place.keys + "/signing.pem"
    let whole = try String(contentsOfFile: key, encoding: .utf8)
    let middle = whole.index(whole.startIndex, offsetBy: 50)
    let damaged = whole.replacingCharacters(
      in: middle...middle, with: whole[middle] == "A" ? "B" : "A")
    let states: [(mode: Int, text: String?)] = [(0o644, whole), (0o600, damaged), (0o600, nil)]
    for state in states {
      try FileManager.default.removeItem(atPath: key)
      if let text = state.text {
        try text.write(toFile: key, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: state.mode], ofItemAtPath: key)
      }
      let result = try place.spool(["verify", "foreign"])
      #expect(result.exitCode == 4, "\(state): \(result.text)")
      #expect(result.text.contains("does not have it"))
      #expect(result.errorOutput.contains("note: ") && result.errorOutput.contains("signing key"))
      // What the ledger has, stays verified.
      #expect(try place.spool(["verify", "out"]).exitCode == 0)
    }
  }

  /// Runs another pipeline on recordings whose files lie there.
  private func replace(_ names: [String], format: String, _ words: String) throws {
    try run(names, format: format)
    let verified = try place.spool(["verify", "out"])
    #expect(verified.exitCode == 0, "\(words): \(verified.text)")
    let script = try #require(Program(named: "dash")).run([place.out + "/a.verify.sh"], folder: "/")
    #expect(script.exitCode == 0, "\(words): \(script.text)")
  }

  @Test("what was moved away and back is Spool's own again, and is replaced whole")
  func movedBack() throws {
    try run(["a"])
    try copy("out", "whole")
    for name in ["receipt.json", "sha256", "verify.sh", "wav"] {
      try copy("out/a.\(name)", "kept")
      try FileManager.default.removeItem(atPath: place.out + "/a.\(name)")
      try copy("kept", "out/a.\(name)")
    }
    try replace(["a"], format: "'wav', 'flac'", "every file was touched")
    // As an earlier state, put back: what is signed then is the last in the ledger again.
    try copy("whole/.", "out")
    try replace(["a"], format: "wav", "an earlier state was put back")
    try copy("out/a.receipt.json", "kept.json")
    try copy("kept.json", "out/a.receipt.json")
    #expect(try place.spool(["proof", "key", "rotate"]).exitCode == 0)
    try replace(["a"], format: "wav", "the key was rotated")
  }

  @Test("a run that may not replace the receipt, or what lies beside it, replaces nothing")
  func refused() throws {
    try run(["a", "b"])
    let pipeline = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\n"
        + "stages: [decode, { gain: -1 dB }, { export: [wav] }, proof]\n", named: "other.yaml")
    for name in ["receipt.json", "sha256", "verify.sh"] {
      try copy("out", "whole")
      try copy("out/b.\(name)", "out/a.\(name)")
      let before = try Workspace.listing(of: place.out)
      let refused = try place.run(pipeline, [place.file("a.wav")])
      #expect(refused.exitCode == 1)
      #expect(refused.errorOutput.contains("a.\(name)"), "\(refused.errorOutput)")
      #expect(try Workspace.listing(of: place.out) == before, "\(name)")
      try FileManager.default.removeItem(atPath: place.out)
      try FileManager.default.moveItem(atPath: place.file("whole"), toPath: place.out)
    }
    #expect(try place.run(pipeline, [place.file("a.wav")]).exitCode == 0)
    #expect(try place.spool(["verify", "out"]).exitCode == 0)
  }

  private struct Replaced: Decodable {
    struct Envelope: Decodable { let payload: Data }
    struct Predicate: Decodable { let origin: Origin }
    struct Origin: Decodable { let replaced: [File]? }
    struct File: Decodable, Hashable {
      let name: String
      let digest: [String: String]
    }
    let predicate: Predicate
  }

  /// What the receipt of `a` says that it replaced.
  private func replaced() throws -> [Replaced.File]? {
    let envelope = try JSONDecoder().decode(
      Replaced.Envelope.self, from: place.export("a.receipt.json"))
    return try JSONDecoder().decode(Replaced.self, from: envelope.payload).predicate.origin.replaced
  }

  private func file(_ name: String) throws -> Replaced.File {
    let sum = try #require(Program(named: "sha256sum")).run([place.out + "/" + name])
    return Replaced.File(name: name, digest: ["sha256": String(sum.text.prefix(64))])
  }

  @Test("another pipeline, or a run without the receipt, replaces nothing that a receipt covers")
  func otherPipelines() throws {
    try run(["a"])
    #expect(try replaced() == nil)
    let before = try Workspace.listing(of: place.out)
    func pipeline(_ name: String, _ last: String) throws -> String {
      try place.pipeline(
        "pipeline: \(name)\ninputs: { note: sound }\n"
          + "stages: [decode, { gain: -1 dB }, { export: [wav] }\(last)]\n", named: "other.yaml")
    }
    for (name, last, words) in [
      ("q", "", "an export of p"), ("q", ", proof", "an export of p"), ("p", "", "a.receipt.json"),
    ] {
      let refused = try place.run(try pipeline(name, last), [place.file("a.wav")])
      #expect(refused.exitCode == 1, "\(name)\(last)")
      #expect(refused.errorOutput.contains(words), "\(refused.errorOutput)")
      #expect(refused.errorOutput.contains("--replace"), "\(refused.errorOutput)")
      #expect(try Workspace.listing(of: place.out) == before, "\(name)\(last)")
    }
    #expect(try place.spool(["verify", "out"]).exitCode == 0)

    // The same pipeline with its receipt may, and another one on request; the receipts say so.
    let first = try ["a.receipt.json", "a.wav"].map(file)
    #expect(try place.run(try pipeline("p", ", proof"), [place.file("a.wav")]).exitCode == 0)
    #expect(try replaced() == first)
    let files = try ["a.receipt.json", "a.wav"].map(file)
    let other = try place.pipeline(
      "pipeline: q\ninputs: { note: sound }\n"
        + "stages: [decode, { gain: -2 dB }, { export: [wav] }, proof]\n", named: "q.yaml")
    let run = try place.run(other, [place.file("a.wav")], ["--replace"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try replaced() == files)
    let verified = try place.spool(["verify", "out"])
    #expect(verified.exitCode == 0, "\(verified.text)")
    // Again, nothing is new.
    let again = try place.run(other, [place.file("a.wav")])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(try replaced() == files)
  }
}
