import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("A remuxer", .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct RemuxerTests {
  let scratch: ScratchFolder
  let pool = WorkerPool(threadCount: 2)

  init() throws { scratch = try ScratchFolder() }

  static let tags = [
    "title": "Überfahrt", "artist": "A. Nonymous", "album": "Notes", "date": "2026-03-14",
    "comment": "line one; line two", "genre": "Speech",
  ]

  func cover(_ name: String) throws -> CoverArt {
    let path = scratch.file(name)
    try FFmpeg.run(["-f", "lavfi", "-i", "testsrc=s=120x90", "-frames:v", "1", path])
    return try #require(CoverArt(bytes: Array(bytes(of: path))))
  }

  @Test(
    "adds tags and a picture and leaves every sample as it was",
    arguments: [
      ExportSpec.aac(bitRate: 96_000), .alac(.bits24), .flac(.bits16, level: 5),
      .wav(.integer(.bits24)), .wav(.float32), .mp3(bitRate: 128_000, quality: nil),
      .mp3(bitRate: 0, quality: 4), .opus(bitRate: 96_000), .vorbis(quality: 5),
    ])
  func copies(spec: ExportSpec) throws {
    let plain = scratch.file("plain")
    try Sound(frames: 123_457).encode(as: spec, to: plain, pool: pool)
    let tagged = scratch.file("tagged")
    let picture = try cover("cover.jpg")
    try spec.copy(from: plain, to: tagged, tags: Self.tags, cover: picture)
    #expect(try FFmpeg.decode(tagged) == FFmpeg.decode(plain))

    let before = try MediaProbe.describe(SourceFile(plain))
    let after = try MediaProbe.describe(SourceFile(tagged))
    #expect(after.expectedFrames == before.expectedFrames)
    #expect(after.codec == before.codec)
    for (name, value) in Self.tags { #expect(after.tags[name] == value) }
    if case .wav = spec {
      #expect(!after.hasCoverArt)
    } else {
      #expect(try MediaProbe.coverArt(of: SourceFile(tagged)) == picture)
    }
    // The reference program reads the same tags, in Ogg from the stream.
    let isOgg = ["opus", "vorbis"].contains(after.codec)
    let listed = String(
      decoding: try FFmpeg.run(
        ["-i", tagged, "-map_metadata", isOgg ? "0:s:a" : "0", "-f", "ffmetadata", "-"]),
      as: UTF8.self)
    #expect(listed.contains("title=Überfahrt") || listed.contains("TITLE=Überfahrt"))

    let again = scratch.file("again")
    let digest = try spec.copy(
      from: plain, to: again, tags: Self.tags, cover: picture, isDigestWanted: true)
    #expect(try bytes(of: again) == bytes(of: tagged))
    #expect(try digest == SHA256.digest(of: Array(bytes(of: tagged))))
  }

  @Test(
    "exchanges the tags of an M4A or a FLAC file for the bytes that libavformat writes",
    arguments: [ExportSpec.aac(bitRate: 96_000), .alac(.bits24), .flac(.bits16, level: 5)],
    [false, true])
  func sameBytes(spec: ExportSpec, hasCover: Bool) throws {
    let plain = scratch.file("plain")
    try Sound(frames: 123_457).encode(as: spec, to: plain, pool: pool)
    let picture = hasCover ? try cover("cover.png") : nil
    var tags = Self.tags
    for time in [nil, "2026-03-14T15:09:26Z", "2055-01-01T00:00:00Z"] {
      tags["creation_time"] = time
      let (quick, whole) = (scratch.file("quick"), scratch.file("whole"))
      try spec.copy(from: plain, to: quick, tags: tags, cover: picture)
      try spec.write(from: plain, to: whole, tags: tags, cover: picture)
      let (written, gaps) = try withoutGaps(quick)
      #expect(try written == bytes(of: whole), "\(time ?? "no time")")
      if case .aac = spec {
        #expect(try withoutGaps(plain).gaps == gaps)
        // 1,024 frames in front, 123,457 of sound, and 447 up to the 122nd packet.
        #expect(
          gaps.hasPrefix(" 00000000 00000400 000001BF 000000000001E241 00000000"), "\(gaps)")
      } else {
        #expect(gaps.isEmpty)
      }
    }
  }

  /// The bytes of a file without its item about what the encoder has put around the sound, and the text
  /// of that; empty if it has none.
  private func withoutGaps(_ path: String) throws -> (file: Data, gaps: String) {
    var file = try bytes(of: path)
    guard let mark = file.range(of: Data("----".utf8)) else { return (file, "") }
    func size(at start: Int) -> Int { file[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
    let start = mark.lowerBound - 4
    let count = size(at: start)
    let item = file[start..<start + count]
    for name in ["moov", "udta", "meta", "ilst"] {
      let box =
        try #require(
          file.range(of: Data(name.utf8), options: .backwards, in: 0..<start)
        ).lowerBound - 4
      let rest = size(at: box) - count
      file.replaceSubrange(box..<box + 4, with: (0..<4).map { UInt8(rest >> (24 - 8 * $0) & 255) })
    }
    file.removeSubrange(start..<start + count)
    #expect(item.range(of: Data("iTunSMPB".utf8)) != nil)
    return (file, String(decoding: item.suffix(116), as: UTF8.self))
  }

  @Test(
    "writes a comment and a description by their own names, which other programs read",
    arguments: [
      ExportSpec.flac(.bits16, level: 5), .opus(bitRate: 96_000), .vorbis(quality: 5),
      .mp3(bitRate: 128_000, quality: nil), .aac(bitRate: 96_000),
    ], [0, 64_900])
  func bothComments(spec: ExportSpec, paddingByteCount: Int) throws {
    let (plain, tagged) = (scratch.file("plain"), scratch.file("tagged"))
    try Sound(frames: 50_000).encode(as: spec, to: plain, pool: pool)
    var tags = ["comment": "Größe", "description": "What it is about", "title": "Night"]
    // A name that comes first moves the comment to the end of a page.
    if paddingByteCount > 0, !EncoderSettings.isMovie(spec) {
      tags["A"] = String(repeating: "a", count: paddingByteCount)
    }
    let digest = try spec.copy(from: plain, to: tagged, tags: tags, isDigestWanted: true)
    #expect(try digest == SHA256.digest(of: Array(bytes(of: tagged))))
    let found = try MediaProbe.describe(SourceFile(tagged)).tags
    for (name, value) in tags { #expect(found[name.lowercased()] == value, "\(name)") }
    #expect(try FFmpeg.decode(tagged) == FFmpeg.decode(plain))
    guard ["flac", "opus", "vorbis"].contains(try MediaProbe.describe(SourceFile(plain)).codec)
    else { return }
    for text in ["COMMENT=Gr", "description=Wh"] {
      #expect(try bytes(of: tagged).range(of: Data(text.utf8)) != nil, "\(text)")
    }
    let log = try FFmpeg.run(["-err_detect", "crccheck+explode", "-i", tagged, "-f", "null", "-"])
    #expect(log.isEmpty)
  }

  @Test(
    "gives the sound of an M4A file its language, both where the file is copied and muxed anew",
    arguments: [ExportSpec.aac(bitRate: 96_000), .alac(.bits24)])
  func language(spec: ExportSpec) throws {
    let (plain, quick, whole) = (
      scratch.file("plain"), scratch.file("quick"), scratch.file("whole")
    )
    try Sound(frames: 50_000).encode(as: spec, to: plain, pool: pool)
    try spec.copy(from: plain, to: quick, tags: ["language": "deu"])
    try spec.write(from: plain, to: whole, tags: ["language": "deu"])
    #expect(try withoutGaps(quick).file == bytes(of: whole))
    #expect(try MediaProbe.describe(SourceFile(quick)).tags["language"] == "deu")
    #expect(spec.droppedTags(of: ["language": "deu"]) == [])
    #expect(spec.droppedTags(of: ["language": "German"]) == ["language"])
    #expect(ExportSpec.wav(.float32).droppedTags(of: ["language": "German"]) == [])
  }

  @Test("writes a file anew whose boxes are not in the order that it expects")
  func otherOrder() throws {
    let path = scratch.file("fast.m4a")
    try FFmpeg.run(
      FFmpeg.sound(seconds: 2.5) + ["-c:a", "aac", "-movflags", "+faststart", path])
    let isAsExpected = try TaggedMovie.open(path) != nil
    #expect(!isAsExpected)
    let copy = scratch.file("copy")
    try ExportSpec.aac(bitRate: 0).copy(from: path, to: copy, tags: Self.tags)
    #expect(try FFmpeg.decode(copy) == FFmpeg.decode(path))
    #expect(try MediaProbe.describe(SourceFile(copy)).tags["title"] == "Überfahrt")
  }

  @Test("writes no times into a box that has no room for them")
  func emptyHeader() throws {
    func box(_ name: String, _ content: [UInt8] = []) -> [UInt8] {
      (8 + content.count).bigEndianBytes(4) + Array(name.utf8) + content
    }
    func movie(_ track: [UInt8]) -> [UInt8] {
      box("moov", box("mvhd", [UInt8](repeating: 0, count: 100)) + track + box("udta"))
    }
    let track = box("trak", box("tkhd"))
    let (path, target) = (scratch.file("empty.m4a"), scratch.file("model.m4a"))
    let bytes = ["ftyp", "free", "mdat"].flatMap { box($0) } + movie(track)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    try Data(movie([])).write(to: URL(fileURLWithPath: target))
    let written = try TaggedMovie.open(path)?.write(to: target, isDigestWanted: false)
    #expect(written?.isDone == true)
    #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: target))) == bytes)
  }

  @Test("takes no box for what it is not: each length that is spoilt is written anew or refused")
  func spoiltBoxes() throws {
    let plain = scratch.file("plain")
    try Sound(frames: 5000).encode(as: .aac(bitRate: 96_000), to: plain, pool: pool)
    let intact = try bytes(of: plain)
    let movie = try #require(intact.range(of: Data("moov".utf8))).lowerBound - 4
    for offset in [0, 28, 36, movie, movie + 8, movie + 116, movie + 116 + 92] {
      for byte in 0..<4 {
        var spoilt = intact
        spoilt[offset + byte] ^= 0x41
        try spoilt.write(to: URL(fileURLWithPath: plain))
        _ = try? ExportSpec.aac(bitRate: 96_000).copy(
          from: plain, to: scratch.file("copy"), tags: Self.tags)
      }
    }
  }

  @Test("keeps the priming of a file that the ffmpeg program made", arguments: ["a.m4a"])
  func foreign(name: String) throws {
    let path = scratch.file(name)
    try FFmpeg.run(FFmpeg.sound(seconds: 2.5) + ["-c:a", "aac", path])
    let copy = scratch.file("copy")
    try ExportSpec.aac(bitRate: 0).copy(
      from: path, to: copy, tags: ["creation_time": "2026-03-14T15:09:26Z"],
      cover: cover("cover.png"))
    #expect(try FFmpeg.decode(copy) == FFmpeg.decode(path))
    #expect(
      try MediaProbe.describe(SourceFile(copy)).tags["creation_time"]
        == "2026-03-14T15:09:26.000000Z")
  }
}
