import Foundation
import TestSupport
import Testing

@Suite(
  "Chapters reach the files that players open",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ChapterTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func pipeline(_ stages: String = "", export: String = "[wav, mp3]") throws -> String {
    try place.pipeline(
      "pipeline: chapters\ninputs: { take: sound }\nstages:\n  - decode\n\(stages)  - export: \(export)\n"
    )
  }

  /// The chapters of an export, as ffprobe reads them: `0.5 Title`.
  private func chapters(_ name: String) throws -> [String] {
    struct Report: Decodable {
      struct Chapter: Decodable {
        let start_time: String
        let tags: [String: String]?
      }
      let chapters: [Chapter]
    }
    let text = try Reference.output(
      "ffprobe", ["-v", "error", "-of", "json", "-show_chapters", place.out + "/" + name])
    return try JSONDecoder().decode(Report.self, from: text).chapters.map {
      "\(Double($0.start_time) ?? -1) \($0.tags?["title"] ?? "")"
    }
  }

  /// A recording of twelve seconds, with chapters of its own.
  private func record(_ name: String = "take.flac") throws -> String {
    let path = place.file(name)
    try Reference.record(
      path, seconds: 12,
      coding: [
        "-metadata", "CHAPTER000=00:00:00.000", "-metadata", "CHAPTER000NAME=Own", "-metadata",
        "CHAPTER001=00:00:06.000", "-metadata", "CHAPTER001NAME=Other",
      ])
    return path
  }

  @Test("of all stretches of a recording that are joined, each where its sound is")
  func stretches() throws {
    let take = try record()
    let advert = place.file("ad.wav")
    try Reference.record(advert, seconds: 3)
    for (name, stages, expected) in [
      (
        "middle",
        """
          - trim: { end: 8 s, from: decode }
            id: first
          - trim: { start: 8 s, from: decode }
            id: second
          - concat: { from: [first, $ad, second] }
            id: show
        """, ["0.0 Own", "6.0 Other"]
      ),
      (
        "teaser",
        """
          - trim: { start: 7 s, end: 9 s, from: decode }
            id: teaser
          - concat: { from: [teaser, $ad, decode] }
            id: show
        """, ["0.0 Other", "5.0 Own", "11.0 Other"]
      ),
      (
        "turned",
        """
          - trim: { end: 6 s, from: decode }
            id: first
          - trim: { start: 5 s, from: decode }
            id: second
          - concat: { from: [second, first] }
            id: show
        """, ["0.0 Own", "1.0 Other", "7.0 Own"]
      ),
    ] {
      let inputs = "inputs: { take: sound, ad: sound? }"
      let pipeline = try place.pipeline(
        "pipeline: \(name)\n\(inputs)\nstages:\n  - decode: { from: $take }\n\(stages)\n"
          + "  - export: { formats: [mp3], name: \(name), recording: $take }\n",
        named: name + ".yaml")
      let run = try place.run(
        pipeline, name == "turned" ? ["take=\(take)"] : ["take=\(take)", "ad=\(advert)"])
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      #expect(try chapters(name + ".mp3") == expected, "\(name)")
    }
  }

  @Test("in every format, in order, and where edits moved their sound")
  func moved() throws {
    let take = try record()
    _ = try place.folder.write(
      """
      {"chapters": [{"start": 4, "title": "Zwei 😀"}, {"start": 0.5, "title": "One"},
       {"start": 9, "title": "Late"}, {"start": 99, "title": "Beyond"}, {"start": 4, "title": "B"},
       {"start": 7}, {"start": 10.5, "title": "Cut"}]}
      """, to: "take.json")
    let stages = """
        - trim: { start: 2 s }
        - cut: { remove: [{ from: 8.5 s, to: 10 s }] }
        - speed: { tempo: 2 }

      """
    let run = try place.run(
      pipeline(stages, export: "[wav, m4a, alac, flac, mp3, opus, ogg]"), [take])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(
      run.warnings == [
        "1 chapter begins beyond the end of the recording, at 12 s, and is left out",
        "the wav file is written with less than the recording has: no chapters",
      ])
    let expected = ["0.0 One", "1.0 Zwei 😀", "2.5 Chapter 3", "3.5 Late"]
    for name in ["m4a", "alac.m4a", "flac", "mp3", "opus", "ogg"] {
      #expect(try chapters("take." + name) == expected, "\(name)")
    }
    #expect(try chapters("take.wav") == [])
  }

  @Test("from the recording, else from its sidecar, and anew without any work on the sound")
  func retitled() throws {
    let take = try record()
    let text = try pipeline()
    let first = try place.run(text, [take])
    try #require(first.exitCode == 0, "\(first.errorOutput)")
    #expect(try chapters("take.mp3") == ["0.0 Own", "6.0 Other"])

    let sidecar = try place.folder.write(
      #"{"chapters": [{"startTime": 3, "title": "New"}]}"#, to: "take.json")
    let second = try place.run(text, [take])
    #expect(second.exitCode == 0 && second.made == [])
    #expect(second.files.filter(\.wasThere).map { $0.path.suffix(3) } == ["wav"])
    #expect(try chapters("take.mp3") == ["3.0 New"])
    let third = try place.run(text, [take])
    #expect(third.files.allSatisfy { $0.wasThere })

    try #"{"chapters": [{"start": "3:00"}, {"start": 1}]}"#.write(
      toFile: sidecar, atomically: true, encoding: .utf8)
    let fourth = try place.run(text, [take])
    #expect(fourth.errorOutput.contains("chapters[0].start: found the text \"3:00\""))
    #expect(try chapters("take.mp3") == ["1.0 Chapter 1"])

    // A slip in the file takes no chapters out of finished files.
    try #"{"chapters": [{"start": 1}]"#.write(toFile: sidecar, atomically: true, encoding: .utf8)
    let broken = try place.run(text, [take])
    #expect(broken.exitCode == 1 && broken.errorOutput.contains("cannot use the sidecar"))
    #expect(try chapters("take.mp3") == ["1.0 Chapter 1"])
    try "{}".write(toFile: sidecar, atomically: true, encoding: .utf8)

    let without = try place.run(
      pipeline(export: "{ formats: [mp3], chapters: false }"), [take])
    #expect(without.exitCode == 0)
    #expect(try chapters("take.mp3") == [])
  }

  /// The title of an export, as ffprobe reads it.
  private func title(_ name: String) throws -> String {
    let text = try Reference.output(
      "ffprobe",
      [
        "-v", "error", "-of", "csv=p=0", "-show_entries", "format_tags=title:stream_tags=title",
        place.out + "/" + name,
      ])
    return String(decoding: text, as: UTF8.self).split(separator: "\n").joined()
  }

  @Test("and so does the title of a sidecar, unless the recording has one")
  func titled() throws {
    let take = try record()
    let sidecar = try place.folder.write(#"{"title": "A walk"}"#, to: "take.json")
    let text = try pipeline(export: "[wav, m4a, flac, mp3, ogg]")
    let first = try place.run(text, [take])
    try #require(first.exitCode == 0, "\(first.errorOutput)")
    let names = ["take.wav", "take.m4a", "take.flac", "take.mp3", "take.ogg"]
    for name in names { #expect(try title(name) == "A walk", "\(name)") }
    try #"{"title": "A ride"}"#.write(toFile: sidecar, atomically: true, encoding: .utf8)
    let second = try place.run(text, [take])
    #expect(second.exitCode == 0 && second.made == [])
    for name in names { #expect(try title(name) == "A ride", "\(name)") }
    #expect(
      try place.run(pipeline(export: "{ formats: [mp3], tags: false }"), [take]).exitCode == 0)
    #expect(try title("take.mp3") == "")

    try Reference.record(place.file("own.flac"), seconds: 1, coding: ["-metadata", "title=Own"])
    _ = try place.folder.write(#"{"title": "Other"}"#, to: "own.json")
    #expect(try place.run(pipeline(export: "[m4a]"), [place.file("own.flac")]).exitCode == 0)
    #expect(try title("own.m4a") == "Own")
  }

  @Test("and what a sidecar sets for batches is named, unless the run sets it")
  func ignoredSettings() throws {
    let take = try record()
    _ = try place.folder.write(
      #"{"spool": {"set": {"level": "-3 dB", "fixed": 1, "other": 2, "kinds": ["wav", "mp3"]}}}"#,
      to: "take.json")
    let path = try place.pipeline(
      """
      pipeline: p
      vars:
        level: { value: 0 dB, overridable: true }
        kinds: { value: [flac], overridable: true }
        fixed: 2
      stages:
        - decode
        - gain: $level
        - export: $kinds
      """)
    func warnings(_ options: String...) throws -> [Substring] {
      let run = try place.spool(["run", path, take, "--out", place.out] + options)
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      return run.errorOutput.split(separator: "\n").filter { $0.contains("take.json") }
    }
    let told = try warnings()
    let set = ["level=-3 dB", #"kinds=["wav","mp3"]"#]
    #expect(
      told.first?.hasSuffix(
        "take.json sets level, kinds for batches and inboxes; for this run, add "
          + set.map { "--set '\($0)'" }.joined(separator: " "))
        == true, "\(told)")
    let others =
      "take.json sets fixed, other, and the pipeline lets a recording set only level, kinds"
    #expect(told.count == 2 && told.last?.hasSuffix(others) == true, "\(told)")
    let typed = try warnings("--replace", "--set", set[0], "--set", set[1])
    #expect(typed.count == 1 && typed.first?.hasSuffix(others) == true, "\(typed)")
    #expect(place.exports.contains("take.mp3"))
  }

  @Test("in a batch, from each recording's sidecar")
  func batch() throws {
    try FileManager.default.createDirectory(
      atPath: place.file("trip"), withIntermediateDirectories: true)
    _ = try record("trip/a.flac")
    _ = try record("trip/b.flac")
    _ = try place.folder.write(
      #"{"title": "Title", "chapters": [{"start": 2, "title": "A"}]}"#, to: "trip/a.json")
    let arguments = ["batch", try pipeline(), place.file("trip"), "--out", place.out]
    #expect(try place.spool(arguments).exitCode == 0)
    #expect(try chapters("a.mp3") == ["2.0 A"])
    #expect(try title("a.mp3") == "Title")
    #expect(try title("b.mp3") == "")
    #expect(try chapters("b.mp3") == ["0.0 Own", "6.0 Other"])
    _ = try place.folder.write(#"{"chapters": [{"start": 4, "title": "B"}]}"#, to: "trip/a.json")
    #expect(try place.spool(arguments).exitCode == 0)
    #expect(try chapters("a.mp3") == ["4.0 B"])
  }

  @Test(
    "or are left out with a warning where the sound is not of one recording, or they are too many")
  func leftOut() throws {
    let take = try record()
    let many = (0..<300).map { #"{"start": \#(Double($0) / 30)}"# }.joined(separator: ",")
    _ = try place.folder.write("{\"chapters\": [\(many)]}", to: "take.json")
    let run = try place.run(pipeline(export: "[mp3, flac]"), [take])
    #expect(
      run.warnings == ["mp3 files have the first 255 of 300 chapters: the format holds no more"])
    #expect(try chapters("take.mp3").count == 255)
    #expect(try chapters("take.flac").count == 300)

    let joined = try place.pipeline(
      """
      pipeline: joined
      inputs: { take: sound, other: sound }
      stages:
        - concat: { from: [$take, $other] }
        - export: { formats: mp3, name: joined }
      """)
    let second = try place.run(joined, [take, take])
    try #require(second.exitCode == 0, "\(second.errorOutput)")
    #expect(
      second.warnings == ["mp3 files have the first 255 of 600 chapters: the format holds no more"])
  }

  @Test("from every part of a show and every track of a mix, where their sound went")
  func joined() throws {
    let take = try record()
    try Reference.record(place.file("intro.wav"), seconds: 3)
    try Reference.record(place.file("bed.wav"), seconds: 30)
    _ = try place.folder.write(
      #"{"chapters": [{"start": 0, "title": "A"}, {"start": 5, "title": "B"}]}"#, to: "take.json")
    func run(_ join: String) throws -> (warnings: [String], chapters: [String]) {
      let path = try place.pipeline(
        """
        pipeline: show
        inputs: { intro: sound, take: sound, bed: sound }
        stages:
          - decode: { from: $take }
          - trim: { start: 1 s }
        \(join)
          - export: { formats: mp3, name: show }
        """)
      let run = try place.run(path, [place.file("intro.wav"), take, place.file("bed.wav")])
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      return (run.warnings, try chapters("show.mp3"))
    }
    let joined = try run("  - concat: { from: [$intro, trim, $take] }")
    #expect(joined.chapters == ["3.0 A", "7.0 B", "14.0 A", "19.0 B"] && joined.warnings == [])
    let faded = try run("  - concat: { from: [$intro, trim], crossfade: 1 s }")
    #expect(faded.chapters == ["2.0 A", "6.0 B"])
    let mixed = try run(
      "  - mixdown: { from: [$bed, trim], tracks: [{}, { volume: 0.1, offset: 2 s }] }")
    #expect(mixed.chapters == ["2.0 A", "6.0 B"])
    let early = try run(
      "  - mixdown: { from: [$bed, trim], tracks: [{}, { volume: 0.1, offset: -4.5 s }] }")
    #expect(early.chapters == ["0.0 B"])
  }

  @Test("beside a cover, which is left out with a warning where it is no picture")
  func brokenCover() throws {
    try Reference.record(place.file("plain.mp3"), seconds: 1, coding: ["-id3v2_version", "0"])
    let picture: [UInt8] =
      [0] + Array("image/jpeg".utf8) + [0, 3, 0, 0xff, 0xd8, 0xff, 0xe0]
      + [UInt8](repeating: 0, count: 50)
    let size = { (count: Int) in [0, 0, UInt8(count >> 7), UInt8(count & 127)] }
    let frame = Array("APIC".utf8) + size(picture.count) + [0, 0] + picture
    let tag = Array("ID3".utf8) + [4, 0, 0] + size(frame.count) + frame
    try (Data(tag) + Data(contentsOf: URL(filePath: place.file("plain.mp3")))).write(
      to: URL(filePath: place.file("take.mp3")))
    let run = try place.run(pipeline(export: "[mp3, flac, m4a, opus]"), [place.file("take.mp3")])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings.count == 1)
    #expect(run.warnings.first?.hasSuffix("is left out: its header cannot be read") == true)
  }
}
