import Foundation
import TestSupport
import Testing

/// Real runs lay their files out as bags, and others than Spool say that those are valid.
@Suite(
  "The files of a run lie in a bag, which is whole or has no bagit.txt", .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct BagTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func pipeline(_ formats: String = "wav, flac", _ more: String = "") throws -> String {
    try place.pipeline(
      """
      pipeline: bagged
      inputs: { note: sound }
      stages:
        - decode
        - normalize: { peak: -3 dB }
        - export: [\(formats)]
        - proof: { bag: true\(more) }
      """)
  }

  private func record(_ name: String = "50 % note.wav") throws -> String {
    let path = place.file(name)
    try Reference.record(path, seconds: 0.4)
    return path
  }

  private var bag: String { place.out + "/50 % note" }
  private static let payload = [
    "50 % note.flac", "50 % note.receipt.json", "50 % note.sha256", "50 % note.verify.sh",
    "50 % note.wav", "spool.pub",
  ]
  private static let tags = [
    "bag-info.txt", "bagit.txt", "data", "manifest-sha256.txt", "tagmanifest-sha256.txt",
  ]

  private func reference(_ folder: String) throws -> Bool {
    try #require(BagReference()).isValid(folder)
  }

  /// Every file of the output folder with its bytes.
  private func everything() -> [String: Data] {
    var files: [String: Data] = [:]
    for case let name as String in FileManager.default.enumerator(atPath: place.out) ?? .init() {
      // A folder has none.
      files[name] = try? Data(contentsOf: URL(fileURLWithPath: place.out + "/" + name))
    }
    return files
  }

  @Test("another store with the same keys leaves a bag with the same result as it is")
  func otherStore() throws {
    let (pipeline, note) = try (pipeline("flac"), record())
    try #require(place.run(pipeline, [note]).exitCode == 0)
    let before = everything()
    try FileManager.default.removeItem(atPath: place.store)
    let again = try place.run(pipeline, [note])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(everything() == before)
    #expect(try place.spool(["verify", bag]).exitCode == 0)
    // Another result would break the seal, which this store has not set.
    try FileManager.default.removeItem(atPath: place.store)
    let other = try place.run(self.pipeline("flac, wav"), [note])
    #expect(other.exitCode == 1 && everything() == before, "\(other.errorOutput)")
  }

  @Test("spool, python and sha256sum find it valid, and the receipt in it verifies")
  func whole() throws {
    let run = try place.run(
      pipeline("wav, flac", ", organization: Haus und Hof"), [record()])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(place.exports == ["50 % note"], "there is one copy")
    #expect(Workspace.names(in: bag) == Self.tags)
    #expect(Workspace.names(in: bag + "/data") == Self.payload)
    #expect(try reference(bag))
    let verified = try place.spool(["verify", bag])
    #expect(verified.exitCode == 0, "\(verified.text)\(verified.errorOutput)")
    #expect(verified.text.contains("valid bag \(bag)   6 files"))
    #expect(verified.text.contains("verified  \(bag)/data/50 % note.receipt.json"))
    let dash = try #require(Program(named: "dash"))
    #expect(try dash.run([bag + "/data/50 % note.verify.sh"], folder: "/").exitCode == 0)
    let sums = try dash.run(
      ["-ec", "sed 's/%25/%/g' manifest-sha256.txt | sha256sum -c --strict"], folder: bag)
    #expect(sums.exitCode == 0, "\(sums.text)\(sums.errorOutput)")
    let information = try String(contentsOfFile: bag + "/bag-info.txt", encoding: .utf8)
    #expect(information.hasPrefix("Source-Organization: Haus und Hof\nBagging-Date: 20"))
    #expect(information.contains("\nBag-Software-Agent: spool "))
  }

  @Test("prune takes the declaration away before a file in the payload goes, and asks first")
  func pruned() throws {
    let folder = place.file("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try record("in/note.wav")
    let batch = ["batch", try pipeline("wav"), folder, "--out", place.out]
    try #require(try place.spool(batch + ["--name", "old-{stem}"]).exitCode == 0)
    try #require(try place.spool(batch + ["--name", "new-{stem}"]).exitCode == 0)
    let old = place.out + "/old-note"
    #expect(Workspace.names(in: old) == Self.tags)
    let prune = ["store", "prune", "--covered"]
    let plan = try place.spool(prune + ["--dry-run"])
    #expect(plan.text.contains("\(old)/bagit.txt"), "\(plan.text)")
    #expect(Workspace.names(in: old) == Self.tags)
    let pruned = try place.spool(prune)
    #expect(pruned.exitCode == 0, "\(pruned.errorOutput)")
    #expect(Workspace.names(in: old) == Self.tags.filter { $0 != "bagit.txt" })
    #expect(!Workspace.names(in: old + "/data").contains { $0.hasSuffix(".wav") })
    let new = place.out + "/new-note"
    #expect(Workspace.names(in: new) == Self.tags)
    #expect(try reference(new))
  }

  @Test("a run that is refused for a file in the bag leaves the bag as it was")
  func refused() throws {
    let (pipeline, recording) = try (pipeline(), record())
    try #require(try place.run(pipeline, [recording]).exitCode == 0)
    let sound = bag + "/data/50 % note.wav"
    let whole = try Data(contentsOf: URL(filePath: sound))
    var rotten = whole
    rotten[1000] ^= 1
    try rotten.write(to: URL(filePath: sound))
    let before = everything()
    let run = try place.run(pipeline, [recording])
    #expect(run.exitCode == 1, "\(run.errorOutput)")
    #expect(everything() == before)
    try whole.write(to: URL(filePath: sound))
    let verified = try place.spool(["verify", bag])
    #expect(verified.exitCode == 0, "\(verified.text)\(verified.errorOutput)")
  }

  @Test("what is changed, added or taken away ends in exit code 4, and is named")
  func hostile() throws {
    _ = try place.run(pipeline(), [record()])
    struct Line: Decodable {
      struct Problem: Decodable { let name: String }
      let bag: String?
      let problems: [Problem]
    }
    func culprits() throws -> [String] {
      let result = try place.spool(["verify", bag, "--json"])
      #expect(result.exitCode == 4)
      let lines = try result.output.split(separator: UInt8(ascii: "\n"))
        .map { try JSONDecoder().decode(Line.self, from: $0) }
      return try #require(lines.first { $0.bag != nil }).problems.map(\.name)
    }
    for name in ["data/50 % note.wav", "manifest-sha256.txt", "tagmanifest-sha256.txt"] {
      let url = URL(fileURLWithPath: bag + "/" + name)
      let whole = try Data(contentsOf: url)
      var bytes = whole
      bytes[50] ^= 1
      try bytes.write(to: url)
      #expect(try !culprits().isEmpty, "\(name)")
      try whole.write(to: url)
    }
    _ = try place.folder.write("more", to: "out/50 % note/data/more.txt")
    #expect(try culprits() == ["data/more.txt"])
    let refused = try place.run(pipeline("wav"), [record()])
    #expect(refused.exitCode == 1)
    #expect(refused.errorOutput.contains("more.txt"), "\(refused.errorOutput)")
    try FileManager.default.removeItem(atPath: bag + "/data/more.txt")
    // Somebody wrote the manifests: with the bytes that they had, they are Spool's, and with others not.
    #expect(try place.run(pipeline(), [record()]).exitCode == 0)
    let manifest = URL(fileURLWithPath: bag + "/manifest-sha256.txt")
    try (Data(contentsOf: manifest) + Data("\n".utf8)).write(to: manifest)
    #expect(try place.run(pipeline(), [record()]).errorOutput.contains("--replace"))
    let replaced = try place.run(pipeline(), [record()], ["--replace"])
    #expect(replaced.exitCode == 0, "\(replaced.errorOutput)")
    try FileManager.default.removeItem(atPath: bag + "/data/50 % note.flac")
    #expect(try culprits().contains("data/50 % note.flac"))
    #expect(try place.run(pipeline(), [record()]).exitCode == 0, "it is made again")
    #expect(try place.spool(["verify", bag]).exitCode == 0)
  }

  @Test("a run that is repeated leaves the bag alone; other work makes it anew, whole again")
  func repeated() throws {
    let note = try record()
    _ = try place.run(pipeline(), [note])
    let before = try Workspace.listing(of: place.out)
    let again = try place.run(pipeline(), [note])
    #expect(again.files.allSatisfy { $0.wasThere })
    #expect(try Workspace.listing(of: place.out) == before)
    #expect(try place.run(pipeline("wav"), [note]).exitCode == 0)
    #expect(try reference(bag), "the export of before is in it still")
    #expect(try place.spool(["verify", bag]).exitCode == 0)
    #expect(try Workspace.listing(of: place.out) != before)
  }

  @Test(
    "killed before any operation, a bag with bagit.txt is valid, and the next run ends in the same")
  func killed() throws {
    let note = try record()
    let pipeline = try pipeline("wav")
    var number = LongTests.areWanted ? 1 : 4
    var kills = 0
    while true {
      let result = try place.spool(
        ["run", pipeline, note, "--out", place.out],
        environment: ["SPOOL_CRASH_BEFORE": "\(number)"])
      if FileManager.default.fileExists(atPath: bag + "/bagit.txt") {
        #expect(try reference(bag), "killed before operation \(number)")
      }
      guard result.exitCode == 128 + SIGKILL else {
        #expect(result.exitCode == 0, "\(result.errorOutput)")
        break
      }
      kills += 1
      #expect(try place.run(pipeline, [note]).exitCode == 0)
      #expect(try reference(bag), "killed before operation \(number)")
      #expect(try place.spool(["verify", bag]).exitCode == 0)
      try FileManager.default.removeItem(atPath: place.out)
      try FileManager.default.removeItem(atPath: place.store)
      number += LongTests.areWanted ? 1 : 13
    }
    #expect(kills >= 4)
  }

  @Test("killed while other work replaces what is in it, it is never sealed around half of both")
  func killedWhileReplaced() throws {
    let note = try record()
    let other = try place.pipeline(
      try String(contentsOfFile: pipeline("wav"), encoding: .utf8)
        .replacingOccurrences(of: "-3 dB", with: "-6 dB"), named: "other.yaml")
    var kills = 0
    var number = 20
    while true {
      #expect(try place.run(pipeline("wav"), [note]).exitCode == 0)
      let result = try place.spool(
        ["run", other, note, "--out", place.out],
        environment: ["SPOOL_CRASH_BEFORE": "\(number)"])
      if FileManager.default.fileExists(atPath: bag + "/bagit.txt") {
        #expect(try reference(bag), "killed before operation \(number)")
      }
      guard result.exitCode == 128 + SIGKILL else { break }
      kills += 1
      try FileManager.default.removeItem(atPath: place.out)
      try FileManager.default.removeItem(atPath: place.store)
      number += LongTests.areWanted ? 1 : 9
    }
    #expect(kills >= 3)
    #expect(try place.spool(["verify", bag]).exitCode == 0)
  }

  @Test("every recording of a batch has its bag, and the next batch has nothing to do")
  func batch() throws {
    let folder = place.file("notes")
    try FileManager.default.createDirectory(
      atPath: folder + "/deep", withIntermediateDirectories: true)
    for name in ["a.wav", "deep/b.wav"] {
      try Reference.record("\(folder)/\(name)", seconds: 0.3)
    }
    let words = ["batch", try pipeline(), folder, "--out", place.out, "--jobs", "2"]
    let first = try place.spool(words)
    #expect(first.exitCode == 0, "\(first.text)\(first.errorOutput)")
    for bag in ["a", "deep/b"] { #expect(try reference(place.out + "/" + bag)) }
    #expect(try place.spool(["verify", place.out]).text.contains("2 bags, 12 files"))
    let before = everything()
    #expect(try place.spool(words).exitCode == 0)
    var after = everything()
    after["batch.json"] = before["batch.json"]
    #expect(after == before)
    try FileManager.default.removeItem(atPath: place.out + "/a/bagit.txt")
    #expect(try place.spool(words).exitCode == 0)
    #expect(try reference(place.out + "/a"), "the seal is put on again")
  }

  @Test("an organization without a bag is refused where the pipeline is checked")
  func noBag() throws {
    let path = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\n"
        + "stages: [decode, export: [wav], proof: { organization: Haus }]\n")
    let result = try place.spool(["pipeline", "check", path])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("add bag: true"), "\(result.errorOutput)")
  }
}
