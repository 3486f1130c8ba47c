import Foundation
import TestSupport
import Testing

@Suite("Exports under earlier names, in a batch")
struct EarlierNameTests {
  private let folder: BatchFolder

  init() throws { folder = try BatchFolder() }

  @Test("exports that another --name leaves behind are listed, once")
  func earlierNames() throws {
    try folder.putTiny(1, "a.wav")
    let pipeline = try folder.pipeline()
    let first = try folder.batch(pipeline)
    #expect(first.exitCode == 0 && first.report?.earlierExports == [])
    let left = folder.place.exports.filter { $0.hasPrefix("a.") }
    #expect(!left.isEmpty)
    let second = try folder.batch(pipeline, ["--name", "{stem}-new"])
    #expect(second.exitCode == 0, "\(second.errorOutput)")
    #expect(second.report?.earlierExports.sorted() == left)
    for export in left { #expect(second.lines.contains("  \(export)"), "\(second.lines)") }
    #expect(Set(folder.place.exports).isSuperset(of: left))
    #expect(try folder.batch(pipeline, ["--name", "{stem}-new"]).report?.earlierExports == [])
  }

  @Test("a text whose export has its bytes is the user's own where the folder is renamed or copied")
  func ownTexts() throws {
    try folder.putTiny(1, "a.wav")
    try folder.put(Data("A plain text.\n".utf8), "a.txt")
    let pipeline = try folder.place.pipeline(
      """
      pipeline: words
      inputs: { note: sound, text: transcript? }
      stages:
        - decode: { from: $note }
        - export: { formats: [wav] }
        - transcript: { from: $text, formats: [text] }
          when: $text
      """)
    #expect(try folder.batch(pipeline).exitCode == 0)
    #expect(try folder.place.export("a.txt") == Data("A plain text.\n".utf8))
    for name in ["renamed", "copied"] {
      let other = folder.place.file(name)
      if name == "renamed" {
        try FileManager.default.moveItem(atPath: folder.path, toPath: other)
      } else {
        try FileManager.default.copyItem(atPath: folder.place.file("renamed"), toPath: other)
      }
      let out = folder.place.file("out-" + name)
      let batch = try folder.place.spool(["batch", pipeline, other, "--out", out])
      #expect(batch.exitCode == 0, "\(batch.errorOutput)")
      let text = try? String(contentsOfFile: out + "/a.txt", encoding: .utf8)
      #expect(text == "A plain text.\n", "\(batch.text)")
    }
    let prune = try folder.place.spool(["store", "prune", "--dry-run"])
    #expect(prune.text.hasPrefix("nothing to delete"), "\(prune.text)")
  }

  @Test("an export that the user has copied or moved elsewhere is none to prune")
  func keptCopies() throws {
    try folder.putTiny(1, "a.wav")
    let pipeline = try folder.pipeline()
    #expect(try folder.batch(pipeline).exitCode == 0)
    let archive = folder.place.file("archive")
    try FileManager.default.createDirectory(
      atPath: archive, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: folder.place.out + "/a.wav", toPath: archive + "/a.wav")
    // One that is moved, after which nothing else is left of it.
    try FileManager.default.createDirectory(
      atPath: archive + "/b", withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      atPath: folder.place.out + "/a.wav", toPath: archive + "/b/a.wav")
    Thread.sleep(forTimeInterval: 2.5)
    let other = try folder.place.quickPipeline(formats: "flac")
    let batch = try folder.place.spool([
      "batch", other, archive, "--out", folder.place.file("flac"),
    ])
    #expect(batch.exitCode == 0, "\(batch.errorOutput)")
    let prune = try folder.place.spool(["store", "prune"])
    #expect(prune.text.hasPrefix("nothing to delete"), "\(prune.text)")
    for name in ["a.wav", "b/a.wav"] {
      #expect(FileManager.default.fileExists(atPath: archive + "/" + name))
    }
  }

  @Test("but not those of a file that failed, which may be its only ones")
  func earlierNamesOfFailures() throws {
    try folder.putTiny(1, "a.wav")
    try folder.put(
      Data(#"{"title":"Q","spool":{"set":{"peak":"-6 dB"}}}"#.utf8), "a.json")
    let pipeline = try folder.pipeline()
    #expect(try folder.batch(pipeline, ["--name", "{title}"]).exitCode == 0)
    #expect(folder.place.exports.contains("Q.wav"))
    // A slip of the pen.
    try folder.put(
      Data(#"{"title":"Q","spool":{"set":{"peek":"-6 dB"}}}"#.utf8), "a.json")
    let second = try folder.batch(pipeline, ["--name", "{title}"])
    #expect(second.outcomes == ["a.wav": "failed"])
    #expect(second.report?.earlierExports == [], "\(second.lines)")
    #expect(!second.lines.contains { $0.contains("earlier name") }, "\(second.lines)")
  }

  @Test("a renamed recording keeps the name that a template gives it, and no other takes that")
  func renamedRecording() throws {
    try folder.putTiny(1, "a.wav")
    try folder.put(Data(#"{"title":"Q"}"#.utf8), "a.json")
    let pipeline = try folder.pipeline()
    #expect(try folder.batch(pipeline, ["--name", "{title}"]).exitCode == 0)
    for ending in ["wav", "json"] {
      try FileManager.default.moveItem(
        atPath: folder.path + "/a.\(ending)", toPath: folder.path + "/episode.\(ending)")
    }
    let moved = try folder.batch(pipeline, ["--name", "{title}"])
    #expect(moved.exitCode == 0 && moved.report?.renamed == 0, "\(moved.errorOutput)")
    #expect(folder.place.exports.filter { $0.hasSuffix(".wav") } == ["Q.wav"])
    // The next batch finds it done, under its name.
    let next = try folder.batch(pipeline, ["--name", "{title}"])
    #expect(
      next.exitCode == 0 && next.report?.reused == 1 && next.report?.renamed == 0, "\(next.lines)")
    #expect(folder.place.exports.filter { $0.hasSuffix(".wav") } == ["Q.wav"])
    // Another recording takes no other's name, although that is there no more.
    for ending in ["wav", "json"] {
      try FileManager.default.removeItem(atPath: folder.path + "/episode.\(ending)")
    }
    try folder.putTiny(2, "b.wav")
    try folder.put(Data(#"{"title":"Q"}"#.utf8), "b.json")
    let other = try folder.batch(pipeline, ["--name", "{title}"])
    #expect(other.exitCode == 0 && other.report?.renamed == 1, "\(other.errorOutput)")
    #expect(folder.place.exports.filter { $0.hasSuffix(".wav") }.sorted() == ["Q-2.wav", "Q.wav"])
  }

  @Test("captions among them, which only recordings with a transcript have")
  func earlierCaptions() throws {
    try folder.putTiny(1, "a.wav")
    try folder.putTiny(2, "b.wav")
    let captions = "1\n00:00:00,000 --> 00:00:00,200\nHello.\n"
    try captions.write(toFile: folder.path + "/a.srt", atomically: true, encoding: .utf8)
    let pipeline = try folder.place.pipeline(
      """
      pipeline: words
      inputs: { note: sound, text: transcript? }
      stages:
        - decode
        - export: [wav]
        - transcript: { formats: [vtt], transcript: $text }
      """, named: "words.yaml")
    #expect(try folder.batch(pipeline, ["--name", "a-{stem}"]).exitCode == 0)
    let left = folder.place.exports.filter { $0.hasPrefix("a-") }.sorted()
    #expect(left == ["a-a.vtt", "a-a.wav", "a-b.wav"])
    let second = try folder.batch(pipeline, ["--name", "b-{stem}"])
    #expect(second.report?.earlierExports.sorted() == left, "\(second.errorOutput)")
  }

  @Test("words of a batch that are lost are found again by the same batch, under their name")
  func lostWords() throws {
    let program = try #require(Program(named: "espeak-ng"))
    let talk = folder.path + "/talk.wav"
    #expect(
      try program.run(["-w", talk, "The quick brown fox jumps over the lazy dog."]).exitCode == 0)
    try folder.put(Data("The quick brown fox jumps over the lazy dog.".utf8), "talk.txt")
    try folder.put(Data(#"{"title":"Reel one"}"#.utf8), "talk.json")
    let pipeline = try folder.place.pipeline(
      """
      pipeline: told
      inputs: { take: sound, text: transcript? }
      stages:
        - decode
        - align: { transcript: $text }
        - transcript: { formats: [srt] }
      """)
    #expect(try folder.batch(pipeline, ["--name", "{title}"]).exitCode == 0)
    let exports = folder.place.exports
    #expect(exports.contains("Reel one.srt"), "\(exports)")
    let record = try folder.place.spool(["runs", "show", "last", "--json"]).text
    let artifacts = folder.place.store + "/artifacts"
    let lost = FileManager.default.enumerator(atPath: artifacts)?.compactMap { $0 as? String }
      .filter {
        $0.count == 67
          && record.contains("\"digest\":\"\($0.dropFirst(3))\",\"kind\":\"transcript\"")
      }
    for name in try #require(lost) {
      try FileManager.default.removeItem(atPath: "\(artifacts)/\(name)")
    }
    let repaired = try folder.place.spool(["store", "repair"])
    let line = try #require(
      repaired.text.split(separator: "\n").first { $0.hasPrefix("next:  spool batch ") },
      "\(repaired.text)")
    let shell = try #require(Program(named: "sh"))
    let again = try shell.run(
      ["-c", "'\(SpoolProgram.program.path)'" + line.dropFirst("next:  spool".count)],
      environment: folder.place.environment)
    #expect(again.exitCode == 0, "\(line): \(again.errorOutput)")
    #expect(folder.place.exports == exports, "\(folder.place.exports)")
  }
}
