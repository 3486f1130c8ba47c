import Foundation
import Platform
@testable import Store
import TestSupport
import Testing

@Suite(
  "why tells the causes",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct WhyTests {
  private let place: Workspace
  private let note: String

  init() throws {
    place = try Workspace()
    note = place.file("note.wav")
    try Reference.record(note, seconds: 1)
  }

  private func run(
    _ recording: String? = nil, threshold: String = "-18 dB", formats: String = "wav",
    second: String = "compress"
  ) throws -> String {
    let pipeline = try place.pipeline(
      """
      pipeline: why
      inputs: { note: sound }
      stages:
        - decode
        - eq: { bands: [{ type: highpass, frequency: 80 Hz }] }
        - compress: { threshold: \(threshold), ratio: 3 }
        - gain: { gain: -1 dB, from: \(second) }
        - export: [\(formats)]
      """)
    let run = try place.run(pipeline, [recording ?? note], ["--replace"])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    return try #require(run.record?.id)
  }

  /// The reason of each stage, as the table says it.
  private func reasons(_ run: String = "last") throws -> [String: String] {
    let result = try place.spool(["why", run])
    try #require(result.exitCode == 0, "\(result.errorOutput)")
    var reasons: [String: String] = [:]
    for line in result.text.split(separator: "\n").filter({ $0.hasPrefix("  ") }) {
      let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
      reasons[String(words[0])] = words.dropFirst().joined(separator: " ")
        .replacing(/\ +/, with: " ").replacing(/made\ [0-9.]+\ s\ /, with: "made ")
    }
    return reasons
  }

  /// The first digits of what a stage of a run was given.
  private func input(of stage: String, in run: String) throws -> String {
    let text = try place.spool(["why", run, stage]).text
    return String(try #require(text.firstMatch(of: /input +sound ([0-9a-f]{12})/)).output.1)
  }

  /// The first digits of a file's SHA-256.
  private func digits(_ path: String) throws -> String {
    SHA256.digest(of: [UInt8](try Data(contentsOf: URL(filePath: path)))).short
  }

  @Test(
    "a changed text is named, also where a step below writes the same bytes; so are folders in runs"
  )
  func text() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: captions
      inputs: { note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - align: { transcript: $text, least: 0 % }
        - transcript: { formats: [text], transcript: $text }
      """)
    for folder in ["one", "two"] {
      try FileManager.default.createDirectory(
        atPath: place.file(folder), withIntermediateDirectories: false)
      try FileManager.default.copyItem(atPath: note, toPath: place.file(folder + "/note.wav"))
    }
    let text = place.file("note.txt")
    for (words, folder) in [("Hello.\n", "one"), ("Hello there.\n", "two")] {
      try words.write(toFile: text, atomically: true, encoding: .utf8)
      let run = try place.run(pipeline, [place.file(folder + "/note.wav"), text], ["--replace"])
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      #expect(
        try String(contentsOfFile: place.out + "/note.txt", encoding: .utf8) == words,
        "the step below writes other bytes than the file has")
    }
    let told = try reasons()
    #expect(told["align"]?.contains("\(text) has changed") == true, "\(told)")
    let list = try place.spool(["runs"]).text
    #expect(list.contains("one/note.wav") && list.contains("two/note.wav"), "\(list)")
  }

  @Test("what was made by a run whose record was lost is said to be, in words")
  func lostRecord() throws {
    _ = try run()
    try DiskStore(at: place.store).withDatabase { (database) throws(SpoolError) in
      _ = try database.transaction(to: "test") { (database) throws(SpoolError) in
        try database.run("DELETE FROM runs", to: "test")
      }
    }
    _ = try run()
    for (stage, reason) in try reasons() {
      #expect(
        reason
          == "reused from an earlier run, whose record was lost, or from what a batch heard of all "
          + "files first; spool store check tells whether anything is missing", "\(stage)")
    }
  }

  @Test("a run is compared with the one of the most equal inputs, and not with the latest")
  func nearestRun() throws {
    let show = try place.pipeline(
      """
      pipeline: show
      inputs: { jingle: sound, talk: sound }
      stages:
        - concat: { from: [$jingle, $talk] }
        - export: { formats: [wav] }
      """)
    let files = ["jingle.wav", "new.wav", "first.wav", "second.wav"].map(place.file)
    for (number, file) in files.enumerated() {
      try Reference.record(file, seconds: 1 + Double(number) / 2)
    }
    func run(_ jingle: Int, _ talk: Int, _ folder: String) throws -> String {
      let run = try place.run(
        show, [files[jingle], files[talk]], ["--out", place.file(folder)])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      return try #require(run.record?.id)
    }
    // The talks stay, and the jingle is another file under the same path.
    let first = try run(0, 2, "a")
    _ = try run(0, 3, "b")
    try FileManager.default.removeItem(atPath: files[0])
    try FileManager.default.copyItem(atPath: files[1], toPath: files[0])
    _ = try run(0, 2, "c")
    let why = try place.spool(["why", "last"]).text
    #expect(why.contains("compared with run \(first)"), "\(why)")
    #expect(why.contains("jingle.wav has changed"), "\(why)")
    #expect(!why.contains("second.wav"), "\(why)")
  }

  @Test("the first run, a repetition and another threshold")
  func threshold() throws {
    let first = try run()
    #expect(try reasons().values.allSatisfy { $0 == "made first run of this pipeline" })
    _ = try run()
    #expect(try reasons().values.allSatisfy { $0 == "reused from run \(first)" })
    let third = try run(threshold: "-20 dB")
    let why = try reasons()
    // Its sound was not kept, and the time in which it was made once more differs.
    let again = try #require(why["decode"])
    #expect(again.hasPrefix("again ") && again.hasSuffix(" from run \(first)"), "\(again)")
    #expect(why["compress"] == "made threshold: -18 dB → -20 dB")
    for (stage, above) in [("gain", "compress"), ("export", "gain")] {
      let (old, new) = (try input(of: stage, in: first), try input(of: stage, in: third))
      #expect(old != new)
      #expect(why[stage] == "made \(above) above it gave \(new)… instead of \(old)…")
    }
    #expect(try reasons(first) == reasons(String(first.dropLast(1))))

    let stage = try place.spool(["why", third, "compress"])
    #expect(stage.text.contains("because    threshold: -18 dB → -20 dB"), "\(stage.text)")
    #expect(stage.text.contains("parameter  attack: 8 ms"), "\(stage.text)")
    #expect(stage.text.contains("parameter  ratio: 3:1"), "\(stage.text)")
  }

  @Test("another recording, other formats, another source")
  func others() throws {
    _ = try run()
    _ = try run(formats: "wav, flac")
    #expect(try reasons()["export"] == "made formats: [wav] → [wav, flac]")
    _ = try run(formats: "wav, flac", second: "eq")
    #expect(try reasons()["gain"] == "made takes its sound from eq, no longer from compress")

    let other = place.file("other.wav")
    try Reference.record(other, seconds: 2)
    _ = try run(other)
    let (first, second) = (try digits(note), try digits(other))
    #expect(
      try reasons()["decode"]
        == "made another recording: \(note) (\(first)…) → \(other) (\(second)…)")
    #expect(try reasons()["eq"]?.hasPrefix("made decode above it gave ") == true)
    // Back at the first recording, its own runs are what counts.
    _ = try run(threshold: "-21 dB")
    #expect(try reasons()["compress"] == "made threshold: -18 dB → -21 dB")

    try Reference.record(note, seconds: 3)
    _ = try run()
    #expect(
      try reasons()["decode"] == "made \(note) has changed: \(first)… → \(try digits(note))…")
  }

  @Test("scripts get the same as JSON")
  func json() throws {
    _ = try run()
    let id = try run(threshold: "-20 dB")
    let result = try place.spool(["why", id, "--json"])
    let answer = try JSONDecoder().decode(Answer.self, from: result.output)
    #expect(answer.run == id)
    let compress = try #require(answer.stages.first { $0.stage == "compress" })
    #expect(compress.reason == "changed")
    #expect(
      compress.changes == [
        Change(what: "parameter", name: "threshold", from: "-18 dB", to: "-20 dB")
      ])
  }

  @Test("a run or a stage that is not there is an error that says what is")
  func unknown() throws {
    _ = try run()
    let run = try place.spool(["why", "1999"])
    #expect(run.exitCode == 2)
    #expect(run.errorOutput.contains("spool runs"))
    let stage = try place.spool(["why", "last", "compres"])
    #expect(stage.exitCode == 2)
    #expect(stage.errorOutput.contains("did you mean compress?"), "\(stage.errorOutput)")
  }

  private struct Answer: Decodable {
    let run: String
    let stages: [Stage]
  }
  private struct Stage: Decodable {
    let stage: String
    let reason: String
    let changes: [Change]?
  }
  private struct Change: Decodable, Equatable {
    let what: String
    let name: String
    let from: String?
    let to: String?
  }

  @Test("files that a reused stage wrote again have a cause")
  func rewritten() throws {
    let sidecar = place.file("note.json")
    let cover = place.file("cover.png")
    func draw(_ color: String) throws {
      try Reference.ffmpeg([
        "-y", "-f", "lavfi", "-i", "color=\(color):s=64x64", "-frames:v", "1", cover,
      ])
    }
    try draw("red")
    let pipeline = try place.pipeline(
      """
      pipeline: why
      inputs: { note: sound }
      stages: [decode, { export: { formats: [mp3], cover: cover.png } }]
      """)
    func reason() throws -> String {
      try #require(try place.run(pipeline, [note]).exitCode == 0)
      return try #require(try reasons()["export"])
    }
    #expect(try !reason().contains("written again"))
    #expect(try !reason().contains("written again"))
    try place.folder.write(#"{"chapters": [{"start": 0, "title": "A"}]}"#, to: "note.json")
    #expect(try reason().hasSuffix("written again: the sidecar has other chapters"))
    try draw("blue")
    #expect(try reason().contains("written again: a cover or another file in the pipeline"))
    try FileManager.default.removeItem(atPath: sidecar)
    #expect(try reason().hasSuffix("written again: the sidecar has other chapters"))
    try #require(try place.run(pipeline, [note], ["--out", place.file("other")]).exitCode == 0)
    #expect(try reasons()["export"]?.hasSuffix("written again: they were not there yet") == true)
  }

  @Test("captions that were of another text in between are written again for that")
  func otherText() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: why
      inputs: { note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - transcript: { from: $text, formats: [srt] }
      """)
    func subtitle(_ word: String) -> String { "1\n00:00:00,000 --> 00:00:01,000\n\(word)\n" }
    let one = try place.folder.write(subtitle("one"), to: "one.srt")
    let two = try place.folder.write(subtitle("two"), to: "two.srt")
    for text in [one, two, one] {
      try #require(try place.run(pipeline, [note, text], ["--replace"]).exitCode == 0)
    }
    let reason = try #require(try reasons()["transcript"])
    #expect(
      reason.hasSuffix("written again: those that were there were of another text"), "\(reason)")
  }

  @Test("a receipt is of the run of this pipeline, though another one's has the same key")
  func receipts() throws {
    func run(_ name: String, into folder: String) throws -> String {
      let pipeline = try place.pipeline(
        "pipeline: \(name)\nstages:\n  - decode\n  - export: [wav]\n  - proof\n",
        named: name + ".yaml")
      let run = try place.run(pipeline, [note], ["--out", place.file(folder)])
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      return try #require(run.record?.id)
    }
    let first = try run("first", into: "a")
    let second = try run("second", into: "b")
    _ = try run("first", into: "a")
    let reason = try #require(try reasons()["proof"])
    #expect(reason.contains(first) && !reason.contains(second), "\(reason)")
  }
}
