import Foundation
import Glibc
import TestSupport
import Testing

@Suite("What was said is found, and can be heard") struct SearchTests {
  private static let text = """
    Please call me back on Monday morning, because the meeting with the client was moved to the \
    2nd floor.

    It costs $3.50 — and the quick brown fox jumps over the lazy dog in the café.
    """

  private let place: Workspace
  private let sound: String
  private let text: String

  init() throws {
    place = try Workspace()
    sound = place.file("talk.wav")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", sound, Self.text]).exitCode == 0)
    text = try place.folder.write(Self.text, to: "talk.txt")
  }

  private struct Hit: Decodable {
    let hit: Int
    let recording: String
    let name: String
    let startTime: Double
    let endTime: Double
    let words: String
    let run: String
  }

  private func hits(_ words: String...) throws -> [Hit] {
    let run = try place.spool(["search", "--json"] + words)
    #expect(run.exitCode == (run.output.isEmpty ? 1 : 0), "\(run.errorOutput)")
    return try run.text.split(separator: "\n").map {
      try JSONDecoder().decode(Hit.self, from: Data($0.utf8))
    }
  }

  private func tell() throws {
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [sound, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
  }

  @Test("of several sounds that had one path, a line names the run that found the words")
  func replacedSound() throws {
    try tell()
    let quieter = place.file("quieter.wav")
    try Reference.ffmpeg(["-i", sound, "-af", "volume=-2dB", quieter])
    try FileManager.default.removeItem(atPath: sound)
    try FileManager.default.moveItem(atPath: quieter, toPath: sound)
    let run = try place.run(
      PackageFiles.pipeline("words.yaml"), [sound, text], ["--replace"])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let found = try hits("quick brown")
    #expect(Set(found.map(\.run)).count == 2, "\(found)")
    let lines = try place.spool(["search", "quick brown"]).text.split(separator: "\n")
    for (hit, line) in zip(found, lines) {
      #expect(line.contains("talk.wav of run \(hit.run)  "), "\(line)")
    }
  }

  @Test(
    "words that align has found are found with the times of its captions, and cut to the sample")
  func found() throws {
    try tell()
    let line = try place.spool(["search", "quick brown"])
    #expect(line.exitCode == 0 && line.errorOutput == "")
    #expect(line.text.hasPrefix("1  talk.wav  0:0"), "\(line.text)")
    #expect(line.text.contains("and the [quick brown] fox jumps"), "\(line.text)")

    #expect(!line.text.contains(" of run "), "\(line.text)")

    let hit = try #require(try hits("fox").first)
    let captions = try ExportedWords(at: place.out + "/talk.json")
    let word = try #require(captions.words.first { $0.text == "fox" })
    #expect(abs(hit.startTime - word.startTime) < 1e-4 && abs(hit.endTime - word.endTime) < 1e-4)
    #expect(hit.recording == sound && hit.name == "talk.wav")

    let clip = place.file("fox.wav")
    let made = try place.spool(["search", "fox", "--clip", clip, "--padding", "0.25"])
    #expect(made.exitCode == 0, "\(made.errorOutput)")
    let rate = 22_050.0
    let first = Int(((hit.startTime - 0.25) * rate).rounded())
    let count = Int(((hit.endTime + 0.25) * rate).rounded()) - first
    #expect(try samples(clip) == Array(try samples(sound)[first..<first + count]))

    let again = try place.spool(["search", "fox", "--clip", clip])
    #expect(again.exitCode == 1 && again.errorOutput.contains("--replace"))
    #expect(try place.spool(["search", "fox", "--clip", clip, "--replace"]).exitCode == 0)
    #expect(try place.spool(["search", "fox", "--clip", clip, "--hit", "2"]).exitCode == 1)
    #expect(Workspace.names(in: place.folder.path).allSatisfy { !$0.hasSuffix(".part") })
  }

  @Test("where the recording has changed or is gone, the clip says so")
  func gone() throws {
    try tell()
    let freed = try place.spool(["store", "gc", "--sound", "--grace", "0s"])
    #expect(freed.exitCode == 0, "\(freed.errorOutput)")
    let clip = place.file("fox.wav")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: sound))
    try (bytes + Data([0, 0])).write(to: URL(fileURLWithPath: sound))
    let changed = try place.spool(["search", "fox", "--clip", clip])
    #expect(changed.exitCode == 1)
    #expect(changed.errorOutput.contains("it is not the recording whose words were found"))
    try FileManager.default.removeItem(atPath: sound)
    let gone = try place.spool(["search", "fox", "--clip", clip])
    #expect(gone.exitCode == 1)
    #expect(gone.errorOutput.contains("the recording is gone"), "\(gone.errorOutput)")
    #expect(!FileManager.default.fileExists(atPath: clip))
  }

  @Test("where a stage has moved the sound, the clip is of the sound that was heard")
  func moved() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: moved
      inputs: { note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - trim: { start: 0.1 s }
        - align: { transcript: $text }
      """)
    let made = try place.run(pipeline, [sound, text])
    #expect(made.exitCode == 0, "\(made.errorOutput)")
    let hit = try #require(try hits("fox").first)
    let clip = place.file("fox.wav")
    let cut = try place.spool(["search", "fox", "--clip", clip, "--padding", "0"])
    #expect(cut.exitCode == 0, "\(cut.errorOutput)")
    let rate = 22_050.0
    let first = Int((hit.startTime * rate).rounded()) + 2205
    let own = try samples(clip)
    let heard = Array(try samples(sound)[first..<first + own.count])
    #expect(own == heard)
    // Where that sound is freed, the same words are cut from the recording.
    #expect(
      try place.spool(["store", "gc", "--older-than", "0s", "--grace", "0s"]).exitCode == 0)
    let again = try place.spool(["search", "fox", "--clip", clip, "--padding", "0", "--replace"])
    #expect(again.exitCode == 0 && again.text.contains("of \(sound)"), "\(again.errorOutput)")
    let cutAgain = try samples(clip)
    #expect(abs(cutAgain.count - own.count) <= 1 && cutAgain.prefix(100) == own.prefix(100))
  }

  @Test("words that are lost are named, with the very command that finds them again")
  func lostWords() throws {
    try tell()
    let record = try place.spool(["runs", "show", "last", "--json"]).text
    let artifacts = try #require(FileManager.default.enumerator(atPath: place.store + "/artifacts"))
      .compactMap { $0 as? String }.filter { name in
        let artifact = "\"digest\":\"\(name.dropFirst(3))\",\"kind\":\"transcript\""
        return name.count == 67 && record.contains(artifact)
      }
    #expect(!artifacts.isEmpty, "\(record)")
    for name in artifacts {
      try FileManager.default.removeItem(atPath: place.store + "/artifacts/" + name)
    }
    #expect(try place.spool(["store", "check"]).exitCode == 4)
    let repaired = try place.spool(["store", "repair"])
    #expect(repaired.exitCode == 0, "\(repaired.errorOutput)")
    let lines = repaired.text.split(separator: "\n").map(String.init)
    let place = try #require(lines.firstIndex { $0.hasPrefix("the words of \(sound), from run ") })
    #expect(lines[place + 1].hasPrefix("next:  spool run "))
    #expect(try self.place.spool(["store", "check"]).exitCode == 0)
    let search = try self.place.spool(["search", "fox"])
    #expect(search.exitCode == 1 && search.errorOutput.contains("the words of \(sound)"))
    let words = lines[place + 1].split(separator: " ").dropFirst(2).map(String.init)
    let again = try self.place.spool(words)
    #expect(again.exitCode == 0, "\(words): \(again.errorOutput)")
    #expect(try hits("fox").count == 1)
    #expect(try self.place.spool(["search", "fox"]).errorOutput == "")
  }

  @Test(
    "nothing found is exit code 1, a query that means nothing is 2, a store that is not there 1")
  func codes() throws {
    #expect(try place.spool(["search", "fox"]).errorOutput.contains("there is no store"))
    try tell()
    let none = try place.spool(["search", "zebra"])
    #expect(none.exitCode == 1 && none.text == "")
    #expect(none.errorOutput == "nothing is found in 1 transcript\n")
    for query in ["(", "fox AND", "NOT fox", "!?"] {
      let run = try place.spool(["search", query])
      #expect(run.exitCode == 2 && run.errorOutput.contains("help:"), "\(run.errorOutput)")
    }
    for options in [["--limit", "-1"], ["--since", "soon"], ["--near", "x"], ["--hit", "0"]] {
      #expect(try place.spool(["search", "fox"] + options).exitCode == 2, "\(options)")
    }
    #expect(try place.spool(["search", "fox", "--since", "2100-01-01"]).exitCode == 1)
    #expect(try place.spool(["search", "fox", "--since", "1d"]).exitCode == 0)
  }

  @Test("repair makes an index again that is no database")
  func repaired() throws {
    try tell()
    try Data("no database".utf8).write(to: URL(fileURLWithPath: place.store + "/search.sqlite"))
    let repair = try place.spool(["store", "repair"])
    #expect(repair.exitCode == 0, "\(repair.errorOutput)")
    #expect(repair.text.contains("make the index of words again"), "\(repair.text)")
    #expect(try hits("fox").count == 1)
    #expect(try place.spool(["store", "repair"]).text == "nothing to repair\n")
  }

  /// A WAV file's samples as 24-bit numbers.
  private func samples(_ path: String) throws -> [Int32] {
    let program = try #require(Program(named: "ffmpeg"))
    let run = try program.run([
      "-v", "error", "-i", path, "-f", "s32le", "-c:a", "pcm_s32le", "-",
    ])
    return unsafe run.output.withUnsafeBytes { bytes in
      unsafe Array(bytes.bindMemory(to: Int32.self))
    }
  }
}
