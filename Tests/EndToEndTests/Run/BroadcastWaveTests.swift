import Foundation
import TestSupport
import Testing

/// What exported WAV files tell of themselves, read byte by byte and by other programs.
@Suite(
  "WAV files tell how they came about",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct BroadcastWaveTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private static let history = "A=ANALOGUE,M=stereo,T=Studer A80\r\n"

  /// Six seconds of a field recorder's file: `bext`, `iXML`, and two cue points, one with a name.
  private func tape(_ name: String = "tape.wav") throws -> String {
    let path = place.file(name)
    try Reference.record(path, seconds: 6, rate: 48_000, coding: ["-c:a", "pcm_s24le"])
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    var bext = Self.field("Take 3, by the sea", 256) + Self.field("Recorder 7", 32)
    bext += Self.field("REF-0042", 32) + Array("2026-03-1415:09:26".utf8)
    bext += Self.number(48_000 * 3600, 8) + Self.number(1, 2)
    bext += [UInt8](repeating: 0x5A, count: 64) + [UInt8](repeating: 0, count: 190)
    bytes += Self.chunk("bext", bext + Array(Self.history.utf8))
    bytes += Self.chunk("iXML", Array("<BWFXML/>".utf8))
    var cue = Self.number(2, 4)
    for (number, frame) in [(1, 48_000), (2, 144_000)] {
      cue += Self.number(number, 4) + Self.number(frame, 4) + Array("data".utf8)
      cue += Self.number(0, 8) + Self.number(frame, 4)
    }
    bytes += Self.chunk("cue ", cue)
    bytes += Self.chunk(
      "LIST",
      Array("adtl".utf8) + Self.chunk("labl", Self.number(2, 4) + Array("Door\0".utf8)))
    bytes.replaceSubrange(4..<8, with: Self.number(bytes.count - 8, 4))
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  private static func number(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func field(_ text: String, _ count: Int) -> [UInt8] {
    Array(text.utf8) + [UInt8](repeating: 0, count: count - text.utf8.count)
  }

  private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + number(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
  }

  /// The chunks of a RIFF file but its samples, by name; of several the last.
  private func chunks(of name: String) throws -> [String: [UInt8]] {
    let bytes = Array(try place.export(name))
    func length(_ offset: Int) -> Int {
      bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    try #require(bytes.starts(with: Array("RIFF".utf8)))
    #expect(length(4) == bytes.count - 8)
    var chunks: [String: [UInt8]] = [:]
    var start = 12
    while start < bytes.count {
      let count = length(start + 4)
      let name = String(decoding: bytes[start..<start + 4], as: UTF8.self)
      if name != "data" { chunks[name] = Array(bytes[start + 8..<start + 8 + count]) }
      start += 8 + count + count % 2
    }
    #expect(start == bytes.count)
    return chunks
  }

  private func text(_ bytes: [UInt8]?, _ range: Range<Int>) -> String {
    String(decoding: (bytes ?? [])[range].prefix { $0 != 0 }, as: UTF8.self)
  }

  private func integer(_ bytes: [UInt8]?, _ offset: Int, _ count: Int) -> Int {
    (bytes ?? [])[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  /// A figure of loudness, in hundredths.
  private func hundredths(_ bytes: [UInt8]?, _ offset: Int) -> Int {
    Int(Int16(truncatingIfNeeded: integer(bytes, offset, 2)))
  }

  private func pipeline(_ stages: String, export: String = "wav") throws -> String {
    try place.pipeline(
      """
      pipeline: tell
      inputs: { tape: sound }
      stages:
        - decode: { from: $tape }
      \(stages)
        - export: \(export)
      """)
  }

  @Test("with the recorder's own words, every stage, and the loudness that was measured")
  func whole() throws {
    let tape = try tape()
    let run = try place.run(
      try pipeline("  - gain: -3 dB\n  - normalize: { loudness: -20 LUFS }\n  - measure: {}"),
      [tape])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings == [])
    let chunks = try chunks(of: "tape.wav")
    let bext = chunks["bext"]
    #expect(text(bext, 0..<256) == "Take 3, by the sea")
    #expect(text(bext, 256..<288) == "Recorder 7")
    #expect(text(bext, 288..<320) == "REF-0042")
    #expect(text(bext, 320..<330) == "2026-03-14")
    #expect(text(bext, 330..<338) == "15:09:26")
    #expect(integer(bext, 338, 8) == 48_000 * 3600)
    #expect(integer(bext, 346, 2) == 2)
    #expect((bext ?? [])[348..<412].allSatisfy { $0 == 0x5A }, "the material is the same")
    let lines = text(bext, 602..<(bext?.count ?? 602)).split(separator: "\r\n").map(String.init)
    #expect(lines.first == "A=ANALOGUE,M=stereo,T=Studer A80")
    #expect(
      lines.dropFirst().first
        == "A=PCM,F=48000,W=24,M=stereo,T=recording; Recorder 7; REF-0042")
    #expect(lines.count == 6)
    #expect(lines.contains { $0.contains("; gain; ") && $0.contains("-3 dB") })
    #expect(lines.last?.hasPrefix("A=PCM,F=48000,W=24,M=stereo,T=Spool ") == true)
    #expect(lines.last?.hasSuffix("; written as wav") == true)
    #expect(!lines.contains { $0.contains("measure") }, "what only listens changed nothing")
    // The reference program measures the same.
    let path = place.out + "/tape.wav"
    let measured = try Reference.loudness(of: path)
    #expect(abs(Double(hundredths(bext, 412)) / 100 - measured.integrated) < 0.06)
    #expect(abs(Double(hundredths(bext, 416)) / 100 - measured.truePeak) < 0.3)
    #expect((0...2000).contains(hundredths(bext, 414)))
    #expect(hundredths(bext, 418) >= hundredths(bext, 420))
    #expect(hundredths(bext, 420) >= hundredths(bext, 412) - 100)
    #expect(chunks["iXML"] == Array("<BWFXML/>".utf8))
    #expect(integer(chunks["cue "], 0, 4) == 2)
    #expect(integer(chunks["cue "], 8, 4) == 48_000)
    let facts = try SoundFacts(of: path)
    #expect(facts.frames == 288_000)
    #expect(facts.tags["time_reference"] == "172800000")
    #expect(facts.tags["coding_history"]?.hasPrefix("A=ANALOGUE") == true)
  }

  @Test("with the recording's title where nothing else describes it")
  func titled() throws {
    for (name, title) in [("named", ""), ("titled", "Tape 2")] {
      let note = place.file(name + ".wav")
      try Reference.record(note, seconds: 1, coding: ["-metadata", "title=\(title)"])
      #expect(try place.run(try pipeline("  - gain: -3 dB"), [note]).exitCode == 0)
      #expect(text(try chunks(of: name + ".wav")["bext"], 0..<256) == title)
    }
  }

  @Test("with the loudness that the recorder stated, as long as nothing changed the sound")
  func statedLoudness() throws {
    let tape = try tape()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: tape))
    let bext = try #require(bytes.firstRange(of: Data("bext".utf8))).upperBound + 4
    bytes.replaceSubrange(bext + 346..<bext + 348, with: Self.number(2, 2))
    for (number, value) in [-2000, 450, -120, -1500, -1700].enumerated() {
      let place = bext + 412 + 2 * number
      bytes.replaceSubrange(place..<place + 2, with: Self.number(value & 0xFFFF, 2))
    }
    try bytes.write(to: URL(fileURLWithPath: tape))
    func stated(_ stages: String) throws -> [Int] {
      let run = try place.run(try pipeline(stages), [tape])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      let bext = try chunks(of: "tape.wav")["bext"]
      return (0..<5).map { hundredths(bext, 412 + 2 * $0) }
    }
    #expect(try stated("") == [-2000, 450, -120, -1500, -1700])
    // What is not known is written as the highest number.
    #expect(try stated("  - gain: -3 dB") == [Int](repeating: 0x7FFF, count: 5))
    #expect(try stated("  - mono: {}") == [Int](repeating: 0x7FFF, count: 5))
    #expect(try stated("  - measure: {}") != [-2000, 450, -120, -1500, -1700])
  }

  @Test("with places that follow a trim and another rate, and without what cannot")
  func moved() throws {
    let tape = try tape()
    let run = try place.run(
      try pipeline("  - trim: { start: 2 s, end: 5 s }\n  - resample: 24 kHz"), [tape])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let chunks = try chunks(of: "tape.wav")
    #expect(integer(chunks["bext"], 338, 8) == 24_000 * 3602)
    #expect([412, 414, 416, 418, 420].allSatisfy { integer(chunks["bext"], $0, 2) == 0x7FFF })
    #expect(integer(chunks["cue "], 0, 4) == 1)
    #expect(integer(chunks["cue "], 4, 4) == 2)
    #expect(integer(chunks["cue "], 8, 4) == 24_000)
    #expect(chunks["iXML"] == nil)
    #expect(run.warnings.map { $0.prefix(43) } == ["iXML of tape.wav left out of WAV files: it "])
  }

  @Test("and other files have nothing that is true of the recorder's file alone")
  func otherFormats() throws {
    let tape = try tape()
    try #require(
      try place.run(
        try pipeline("  - gain: 1 dB", export: "{ formats: [wav, m4a, flac, mp3] }"), [tape],
        under: try #require(Program(named: "env")), ["TZ=CET-1"]
      ).exitCode == 0)
    for name in ["tape.m4a", "tape.flac", "tape.mp3"] {
      let tags = try SoundFacts(of: place.out + "/" + name).tags
      #expect(tags["comment"] == "Take 3, by the sea")
      // The recorder does not tell its zone: M4A knows UTC alone, and others say what was told.
      let time = "2026-03-14T15:09:26" + (name == "tape.m4a" ? ".000000Z" : "")
      #expect(tags["creation_time"] == time, "\(tags)")
      #expect(tags["coding_history"] == nil && tags["time_reference"] == nil, "\(tags)")
      #expect(tags["encoded_by"] == nil, "\(tags)")
    }
    // What Spool wrote is read again, and the history goes on.
    try FileManager.default.copyItem(
      atPath: place.out + "/tape.wav", toPath: place.file("second.wav"))
    try #require(
      try place.run(try pipeline("  - gain: 2 dB"), [place.file("second.wav")]).exitCode == 0)
    let bext = try chunks(of: "second.wav")["bext"]
    let history = text(bext, 602..<(bext?.count ?? 602))
    #expect(history.hasPrefix(Self.history))
    #expect(history.contains("gain 1 dB") && history.contains("gain 2 dB"), "\(history)")
    #expect(text(bext, 0..<256) == "Take 3, by the sea")
    #expect(integer(bext, 338, 8) == 48_000 * 3600)
  }

  @Test("but for places of sound that was moved otherwise, as a warning says")
  func lost() throws {
    let tape = try tape()
    let run = try place.run(
      try pipeline("  - cut: { remove: [{ from: 1 s, to: 2 s }] }"), [tape])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let chunks = try chunks(of: "tape.wav")
    #expect(text(chunks["bext"], 0..<256) == "Take 3, by the sea")
    #expect(text(chunks["bext"], 602..<700).hasPrefix("A=ANALOGUE"))
    #expect(integer(chunks["bext"], 338, 8) == 0)
    #expect(chunks["cue "] == nil && chunks["iXML"] == nil)
    #expect(
      run.warnings.contains {
        $0.hasPrefix("cue points and iXML of tape.wav left out of WAV files: the stages")
      })
  }

  @Test("each piece from where it begins")
  func pieces() throws {
    let tape = try tape()
    let pipeline = try place.pipeline(
      """
      pipeline: pieces
      inputs: { tape: sound }
      stages:
        - decode: { from: $tape }
        - split: { at: [3 s] }
      """)
    try #require(try place.run(pipeline, [tape]).exitCode == 0)
    let (first, second) = (try chunks(of: "tape-01.wav"), try chunks(of: "tape-02.wav"))
    #expect(integer(first["bext"], 338, 8) == 48_000 * 3600)
    #expect(integer(second["bext"], 338, 8) == 48_000 * 3603)
    #expect(integer(first["cue "], 0, 4) == 1)
    #expect(integer(first["cue "], 8, 4) == 48_000)
    #expect(integer(second["cue "], 0, 4) == 1)
    #expect(integer(second["cue "], 8, 4) == 0)
    #expect(text(first["bext"], 288..<320) != text(second["bext"], 288..<320))
  }

  @Test("only where it is wanted, and without any work when that changes")
  func switchedOff() throws {
    let tape = try tape()
    try #require(try place.run(try pipeline("  - gain: 1 dB"), [tape]).exitCode == 0)
    let full = try place.export("tape.wav")
    let off = try place.run(
      try pipeline("  - gain: 1 dB", export: "{ formats: [wav], bext: false }"), [tape])
    #expect(off.exitCode == 0, "\(off.errorOutput)")
    #expect(off.made == [])
    #expect(try chunks(of: "tape.wav")["bext"] == nil)
    let bare = try place.run(
      try pipeline("  - gain: 1 dB", export: "{ formats: [wav], tags: false }"), [tape])
    #expect(bare.made == [])
    let chunks = try chunks(of: "tape.wav")
    #expect(text(chunks["bext"], 0..<256) == "")
    #expect(text(chunks["bext"], 320..<338) == "")
    #expect(chunks["iXML"] == nil && chunks["cue "] == nil)
    let history = text(chunks["bext"], 602..<(chunks["bext"]?.count ?? 602))
    #expect(!history.contains("Recorder"))
    let again = try place.run(try pipeline("  - gain: 1 dB"), [tape])
    #expect(again.made == [])
    #expect(try place.export("tape.wav") == full)
  }

  @Test("nothing of a torn bext chunk, which libavformat reads beyond its end")
  func torn() throws {
    let tape = place.file("tape.wav")
    try Reference.record(tape, seconds: 1, rate: 48_000)
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: tape)))
    bytes += Self.chunk("bext", Array("Take three".utf8))
    bytes += Self.chunk("junk", [UInt8](repeating: 0x41, count: 1_000))
    bytes.replaceSubrange(4..<8, with: Self.number(bytes.count - 8, 4))
    try Data(bytes).write(to: URL(fileURLWithPath: tape))
    let run = try place.run(try pipeline("  - gain: 1 dB"), [tape])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(!String(decoding: try place.export("tape.wav"), as: UTF8.self).contains("AAAA"))
  }

  @Test("the same to the byte in another store, and when the run was killed on the way")
  func sameBytes() throws {
    let long = place.file("long.wav")
    // 300 s; to repeat 20 of them is ten times as fast as to make all.
    try Reference.record(
      long, seconds: 20, rate: 48_000,
      coding: ["-af", "aloop=loop=14:size=960000", "-metadata", "title=Sea"])
    let words = "  - normalize: { loudness: -20 LUFS }\n  - measure: {}"
    let other = try Workspace()
    let whole = try other.run(
      try other.pipeline(
        String(
          contentsOfFile: try pipeline(words, export: "{ formats: [wav, m4a] }"),
          encoding: .utf8)), [long])
    try #require(whole.exitCode == 0, "\(whole.errorOutput)")

    let killed = try place.start(place.file("pipeline.yaml"), [long])
    try #require(try killed.waits(for: "\"progress\"", times: 20))
    killed.send(SIGKILL)
    _ = try killed.end()
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(try place.allExports() == other.allExports())
    // A file of which the loudness was awaited is written once, and stays.
    let again = try place.run(place.file("pipeline.yaml"), [long])
    #expect(again.files.allSatisfy { $0.wasThere })
    #expect(text(try chunks(of: "long.wav")["bext"], 0..<256) == "Sea")
  }

  @Test("with the archive's own tags, in any encoding, and warnings of what is left out")
  func archived() throws {
    let tape = try tape()
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: tape)))
    let entries = [
      ("INAM", Array("Gr".utf8) + [0xFC] + Array("n".utf8)), ("IARL", Array("Shelf 9".utf8)),
      ("ISRC", Array("Radio".utf8)), ("IENG", Array("Meier".utf8)),
    ]
    bytes += Self.chunk(
      "LIST",
      entries.reduce(Array("INFO".utf8)) { $0 + Self.chunk($1.0, $1.1 + [0]) })
    bytes += Self.chunk("axml", Array("<a/>".utf8)) + Self.chunk("cart", Array("0101".utf8))
    bytes += Self.chunk("JUNK", [0, 0])
    bytes.replaceSubrange(4..<8, with: Self.number(bytes.count - 8, 4))
    try Data(bytes).write(to: URL(fileURLWithPath: tape))
    let run = try place.run(try pipeline("", export: "[wav, flac]"), [tape])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(
      run.warnings == [
        "axml and cart of tape.wav left out of WAV files: Spool does not know these chunks"
      ])
    let tags = try SoundFacts(of: place.out + "/tape.wav").tags
    #expect(tags["iarl"] == "Shelf 9" && tags["isrc"] == "Radio" && tags["ieng"] == "Meier")
    #expect(tags["title"] == "Grün")
    #expect(try SoundFacts(of: place.out + "/tape.flac").tags["title"] == "Grün")

    let quick = try place.spool(["convert", "tape.wav", "-o", "tape.flac"])
    #expect(quick.exitCode == 0, "\(quick.errorOutput)")
    #expect(
      quick.errorOutput.contains(
        "warning: originator, originator reference, time reference, UMID, coding history, iXML, axml "
          + "and cart of tape.wav left out: only WAV files hold them"), "\(quick.errorOutput)")
  }
}
