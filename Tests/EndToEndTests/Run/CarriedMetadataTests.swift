import Foundation
import TestSupport
import Testing

/// What recordings say in places that libavformat does not read, in the files made of them.
@Suite(
  "What a recording says reaches its exports",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct CarriedMetadataTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private static func little(_ value: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// A chunk of a WAV file.
  private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + little(body.count) + body + (body.count % 2 == 1 ? [0] : [])
  }

  private static func field(_ text: String, _ count: Int) -> [UInt8] {
    Array(text.utf8) + [UInt8](repeating: 0, count: count - text.utf8.count)
  }

  private static func bext(date: String, time: String) -> [UInt8] {
    chunk(
      "bext",
      field("An evening", 256) + field("Archive", 32) + field("REF-7", 32) + field(date, 10)
        + field(time, 8) + [UInt8](repeating: 0, count: 264))
  }

  /// Two cue points, each with a name and a note.
  private static let cues: [UInt8] = {
    var points = little(2)
    var list = Array("adtl".utf8)
    for (number, frame, name) in [(1, 0, "Overture"), (2, 48_000, "Aria")] {
      points += little(number) + little(frame) + Array("data".utf8) + little(0, 8) + little(frame)
      list += chunk("labl", little(number) + Array("\(name)\0".utf8))
      list += chunk("note", little(number) + Array("A remark\0".utf8))
    }
    return chunk("cue ", points) + chunk("LIST", list)
  }()

  /// A WAV file of three seconds with these chunks.
  private func wave(_ chunks: [UInt8], _ name: String = "take.wav") throws -> String {
    let path = place.file(name)
    try Reference.record(
      path, seconds: 3, rate: 48_000, coding: ["-c:a", "pcm_s16le", "-bitexact"])
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path))) + chunks
    bytes.replaceSubrange(4..<8, with: Self.little(bytes.count - 8))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// Runs an export of a recording.
  private func export(_ recording: String, _ formats: String) throws -> SpoolRun {
    let run = try place.run(
      place.pipeline(
        "pipeline: p\ninputs: { r: sound }\nstages:\n  - decode\n  - export: \(formats)\n"),
      [recording])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    return run
  }

  /// The titles of an export's chapters, as ffprobe reads them.
  private func chapters(_ name: String) throws -> [String] {
    let text = try Reference.output(
      "ffprobe",
      [
        "-v", "error", "-of", "csv=p=0", "-show_entries", "chapter_tags=title",
        place.out + "/" + name,
      ])
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func tags(_ name: String) throws -> [String: String] {
    try SoundFacts(of: place.out + "/" + name).tags
  }

  @Test("all names of cue points with notes, as chapters and of pieces")
  func cueNames() throws {
    let take = try wave(Self.cues)
    let run = try export(take, "[flac, mp3, m4a]")
    #expect(
      run.warnings == ["notes of cue points of take.wav left out: only WAV files hold them"])
    for name in ["take.flac", "take.mp3", "take.m4a"] {
      #expect(try chapters(name) == ["Overture", "Aria"], "\(name)")
    }
    let split = try place.run(
      place.pipeline(
        """
        pipeline: pieces
        inputs: { r: sound }
        stages:
          - decode: { from: $r }
          - split: { by: marker, recording: $r, formats: [wav] }

        """), [take])
    try #require(split.exitCode == 0, "\(split.errorOutput)")
    let record = try place.spool(["runs", "show", "last", "--json"]).text
    #expect(record.contains("Overture") && record.contains("Aria"), "\(record)")
  }

  @Test("the markers and all annotations of AIFF")
  func interchange() throws {
    func big(_ value: Int, _ count: Int) -> [UInt8] { Self.little(value, count).reversed() }
    func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
      Array(name.utf8) + big(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
    }
    let path = place.file("take.aiff")
    try Reference.record(path, seconds: 3, rate: 48_000, coding: ["-c:a", "pcm_s16be"])
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    let marker = big(1, 2) + big(48_000, 4) + [4] + Array("Aria\0".utf8)
    bytes += chunk("MARK", big(1, 2) + marker)
    for text in ["Reel 3", "Splice at 1 s"] { bytes += chunk("ANNO", Array(text.utf8)) }
    bytes += chunk("APPL", Array("stocABCD".utf8))
    bytes.replaceSubrange(4..<8, with: big(bytes.count - 8, 4))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let run = try export(path, "[wav, flac]")
    #expect(
      run.warnings == ["APPL of take.aiff left out of WAV files: Spool does not know these chunks"])
    let both = "Reel 3\nSplice at 1 s"
    #expect(try tags("take.wav")["comment"] == both && tags("take.flac")["comment"] == both)
    #expect(try chapters("take.flac") == ["Aria"] && chapters("take.wav") == ["Aria"])
  }

  @Test(
    "what a FLAC file keeps of the WAV file that it was made of",
    .enabled(if: Program(named: "flac") != nil, "the flac program is not installed"))
  func foreignMetadata() throws {
    let information = Array("INFO".utf8) + Self.chunk("INAM", Array("Night\0".utf8))
    let wave = try wave(
      Self.bext(date: "1987-05-12", time: "20-15-00") + Self.cues
        + Self.chunk("LIST", information) + Self.chunk("iXML", Array("<BWFXML/>".utf8))
        + Self.chunk("cart", Array("0101".utf8)), "tape.wav")
    let take = place.file("take.flac")
    _ = try Reference.output("flac", ["-s", "--keep-foreign-metadata", "-o", take, wave])
    let run = try export(take, "[wav, flac]")
    #expect(
      run.warnings == [
        "cart of take.flac left out of WAV files: Spool does not know these chunks"
      ])
    let tags = try tags("take.wav")
    #expect(tags["title"] == "Night" && tags["comment"] == "An evening", "\(tags)")
    #expect(tags["date"] == "1987-05-12" && tags["originator_reference"] == "REF-7", "\(tags)")
    #expect(try chapters("take.wav") == ["Overture"], "ffprobe stops at the note")
    #expect(try place.export("take.wav").firstRange(of: Data("<BWFXML/>".utf8)) != nil)
    #expect(try chapters("take.flac") == ["Overture", "Aria"])
    #expect(
      try self.tags("take.flac").filter { ["title", "comment", "date"].contains($0.key) }
        == ["title": "Night", "comment": "An evening", "date": "1987-05-12"])
    let other = try place.spool(["convert", "take.flac", "-o", "other.flac"])
    #expect(
      other.errorOutput.contains(
        "originator, originator reference, iXML, notes of cue points and cart of take.flac left"),
      "\(other.errorOutput)")
    // A date of its own does not cost the time.
    _ = try Reference.output(
      "flac", ["-s", "-f", "--keep-foreign-metadata", "-T", "DATE=1990", "-o", take, wave])
    _ = try export(take, "[flac, mp3]")
    for name in ["take.flac", "take.mp3"] {
      let tags = try self.tags(name)
      #expect(
        tags["date"] == "1990" && tags["creation_time"]?.hasPrefix("1987-05-12T20:15:00") == true,
        "\(tags)")
    }
  }

  @Test(
    "a time without a zone is the recorder's, however it is written and in whatever zone it is read",
    .enabled(if: Program(named: "metaflac") != nil, "the metaflac program is not installed"),
    arguments: ["1987-05-12T00:20:30", "1987-05-12 00:20:30"])
  func plainTimes(time: String) throws {
    let take = place.file("plain.flac")
    try Reference.record(take, seconds: 1)
    try Reference.output("metaflac", ["--set-tag=CREATION_TIME=\(time)", take])
    let pipeline = try place.pipeline(
      "pipeline: p\ninputs: { r: sound }\nstages:\n  - decode\n  - export: [mp3, m4a]\n")
    let run = try place.run(
      pipeline, [take], under: try #require(Program(named: "env")), ["TZ=CET-1"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    for name in ["plain.mp3", "plain.m4a"] {
      let told = try tags(name)["creation_time"] ?? ""
      #expect(told.hasPrefix("1987-05-12T00:20:30"), "\(name): \(told)")
    }
  }

  @Test(
    "several values of a tag each in a comment of their own, and elsewhere as one text",
    .enabled(if: Program(named: "flac") != nil, "the flac program is not installed"))
  func severalValues() throws {
    let (take, bare) = (place.file("take.flac"), place.file("bare.wav"))
    try Reference.record(bare, seconds: 1, rate: 48_000)
    let tags = [
      "ARTIST=Anna Möller", "ARTIST=Karl Weiß", "SUBJECT=War", "SUBJECT=School; Church",
      "SUBJECT=Rain", "TITLE=One; two", "COMMENT=first", "COMMENT=second", "TRACKNUMBER=1",
      "TRACKNUMBER=2",
    ]
    _ = try Reference.output(
      "flac", ["-s", "-o", take, bare] + tags.flatMap { ["-T", $0] })
    let run = try export(take, "{ formats: [flac, opus, ogg, mp3], name: made }")
    #expect(
      run.warnings == [
        "the mp3 file is written with less than the recording has: the values of artist, comment, "
          + #"subject, track joined by ";""#
      ])
    #expect(try self.tags("made.mp3")["artist"] == "Anna Möller;Karl Weiß")
    // Opus and Ogg files are heard through another conversion.
    for name in ["made.opus", "made.ogg"] {
      let other = try place.spool(["convert", place.out + "/" + name, "-o", "\(name).flac"])
      #expect(other.exitCode == 0, "\(other.errorOutput)")
    }
    for file in [place.out + "/made.flac", "made.opus.flac", "made.ogg.flac"] {
      let path = file.hasPrefix("/") ? file : place.file(file)
      let lines = String(
        decoding: try Reference.output("metaflac", ["--export-tags-to=-", path]), as: UTF8.self
      ).split(separator: "\n").map { line in
        let parts = line.split(separator: "=", maxSplits: 1)
        return parts[0].uppercased() + "=" + parts[1]
      }
      for name in ["ARTIST", "SUBJECT", "TITLE", "COMMENT", "TRACKNUMBER"] {
        #expect(
          lines.filter { $0.hasPrefix(name + "=") } == tags.filter { $0.hasPrefix(name + "=") },
          "\(file)")
      }
    }
    // What a pipeline states takes the place of all of them.
    let stated = try export(take, "{ formats: [mp3], name: stated, metadata: { artist: Eva } }")
    #expect(
      stated.warnings.allSatisfy { !$0.contains("artist") }, "\(stated.warnings)")
  }

  @Test("a comment beside a description, and a language", arguments: ["take.flac", "take.opus"])
  func words(name: String) throws {
    let take = place.file(name)
    let bare = place.file("bare.wav")
    try Reference.record(bare, seconds: 1, rate: 48_000)
    if name == "take.flac" {
      try #require(Program(named: "flac") != nil)
      _ = try Reference.output(
        "flac",
        ["-s", "-T", "COMMENT=Take 3", "-T", "DESCRIPTION=About rain", "-T", "LANGUAGE=deu"]
          + ["-o", take, bare])
    } else {
      let tags = ["comment=Take 3", "description=About rain", "language=deu"]
      let source = place.file("bare.mp3")
      try Reference.record(
        source, seconds: 1, rate: 48_000, coding: tags.flatMap { ["-metadata", $0] })
      _ = try place.spool(["convert", "bare.mp3", "-o", name])
    }
    let run = try export(take, "{ formats: [wav, flac, mp3, m4a, ogg], name: made }")
    #expect(
      run.warnings == [
        "the wav file is written with less than the recording has: without the tag description"
      ])
    for file in ["made.mp3", "made.m4a"] {
      let tags = try tags(file)
      #expect(tags["comment"] == "Take 3" && tags["description"] == "About rain", "\(file)")
    }
    for file in ["made.wav", "made.flac", "made.mp3", "made.m4a", "made.ogg"] {
      #expect(try tags(file)["language"] == "deu", "\(file)")
    }
    for file in ["made.flac", "made.ogg"] {
      let bytes = try place.export(file)
      #expect(bytes.firstRange(of: Data("COMMENT=Take 3".utf8)) != nil, "\(file)")
      #expect(bytes.firstRange(of: Data("description=About rain".utf8)) != nil, "\(file)")
    }
  }

  @Test(
    "one of a comment and a description keeps its name where a file has both",
    arguments: ["COMMENT", "DESCRIPTION"])
  func either(name: String) throws {
    let (take, bare) = (place.file("take.flac"), place.file("bare.wav"))
    try Reference.record(bare, seconds: 1, rate: 48_000)
    _ = try Reference.output("flac", ["-s", "-T", "\(name)=About rain", "-o", take, bare])
    let run = try export(take, "{ formats: [wav, flac, mp3, m4a, opus], name: made }")
    #expect(run.warnings == [])
    for file in ["made.flac", "made.opus"] {
      let text = String(decoding: try place.export(file), as: UTF8.self).uppercased()
      #expect(text.contains("\(name)=ABOUT RAIN"), "\(file)")
      #expect(text.components(separatedBy: "ABOUT RAIN").count == 2, "\(file)")
    }
    #expect(try tags("made.m4a")[name.lowercased()] == "About rain")
    for file in ["made.wav", "made.mp3"] {
      #expect(try tags(file)["comment"] == "About rain", "\(file)")
    }
  }

  @Test("the description of bext beside a comment of INFO")
  func descriptions() throws {
    let take = place.file("take.wav")
    try Reference.record(
      take, seconds: 1, rate: 48_000,
      coding: [
        "-write_bext", "1", "-metadata", "description=Interview with Anna", "-metadata",
        "comment=Donor: B. Meier",
      ])
    let run = try export(take, "{ formats: [wav, flac, mp3], name: made }")
    #expect(run.warnings == [])
    let tags = try tags("made.mp3")
    #expect(tags["comment"] == "Donor: B. Meier" && tags["description"] == "Interview with Anna")
    for text in ["Interview with Anna", "Donor: B. Meier"] {
      for file in ["made.wav", "made.flac"] {
        #expect(try place.export(file).firstRange(of: Data(text.utf8)) != nil, "\(text), \(file)")
      }
    }
  }

  @Test("a working file's name becomes no comment of what is made of it under another")
  func workingName() throws {
    let take = place.file("take.wav")
    try Reference.record(take, seconds: 1, rate: 48_000)
    #expect(try export(take, "{ formats: [wav], name: talk }").exitCode == 0)
    try FileManager.default.moveItem(
      atPath: place.file("out/talk.wav"), toPath: place.file("bees.wav"))
    let run = try export(place.file("bees.wav"), "{ formats: [mp3, m4a, flac], name: made }")
    #expect(run.exitCode == 0)
    for file in ["made.mp3", "made.m4a", "made.flac"] {
      let tags = try tags(file)
      #expect(tags["comment"] == nil && tags["description"] == nil, "\(tags)")
    }
  }

  @Test("an ID3 tag beside an INFO list is left out, as a warning says")
  func identification() throws {
    let take = place.file("take.wav")
    try Reference.record(take, seconds: 1, rate: 48_000, coding: ["-metadata", "title=Info title"])
    let artist = Data("TPE1".utf8) + Data([0, 0, 0, 5, 0, 0, 3]) + Data("Anna".utf8)
    let tag = Data("ID3".utf8) + Data([4, 0, 0, 0, 0, 0, UInt8(artist.count)]) + artist
    let chunk = Data("id3 ".utf8) + Data([UInt8(tag.count), 0, 0, 0]) + tag + Data([0])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: take))
    bytes.append(chunk.prefix(8 + tag.count + tag.count % 2))
    let length = UInt32(bytes.count - 8)
    bytes.replaceSubrange(4..<8, with: (0..<4).map { UInt8(length >> (8 * $0) & 0xff) })
    try bytes.write(to: URL(fileURLWithPath: take))
    let run = try export(take, "{ formats: [wav, flac], name: made }")
    #expect(run.warnings.contains { $0.contains("id3 of take.wav left") }, "\(run.warnings)")
  }

  @Test("the first of several pictures, as a warning says")
  func pictures() throws {
    let take = place.file("take.flac")
    let cover = place.file("cover.png")
    _ = try Reference.ffmpeg(["-f", "lavfi", "-i", "color=red:s=64x48", "-frames:v", "1", cover])
    try Reference.record(place.file("bare.flac"), seconds: 1)
    _ = try Reference.ffmpeg(
      [
        "-i", place.file("bare.flac"), "-i", cover, "-i", cover, "-map", "0", "-map", "1", "-map",
        "2",
      ]
        + ["-c", "copy", "-disposition:v", "attached_pic", take])
    #expect(
      try export(take, "[flac]").warnings == [
        "the flac file is written with less than the recording has: the first of 2 pictures"
      ])
  }

  @Test(
    "the date of origination as the archive wrote it",
    arguments: ["1987-00-00", "1987-05-00", "1987/05/12", "1987:05:12"])
  func origination(date: String) throws {
    _ = try export(wave(Self.bext(date: date, time: "00-00-00")), "[wav]")
    let bytes = try place.export("take.wav")
    let start = try #require(bytes.firstRange(of: Data("bext".utf8))).upperBound + 4
    #expect(String(decoding: bytes[start + 320..<start + 338], as: UTF8.self) == date + "00-00-00")
  }
}
