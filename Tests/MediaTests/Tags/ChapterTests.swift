import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite struct ChapterTests {
  private func chapters(
    _ markers: [(Double, String?)], within duration: Double? = 100, limit: Int = 999
  ) -> [Chapter] {
    markers.map { MediaProbe.Marker(time: Seconds($0.0), title: $0.1) }
      .chapters(within: duration.map { Seconds($0) }, limit: limit)
  }

  @Test func `begin at the nearest millisecond, but not at the end of the sound`() {
    let found = chapters([(9.1 + 5.8, "A"), (20.0009, "B"), (99.9998, "C")], within: 99.9999)
    #expect(found.map(\.start) == [14_900, 20_001, 99_999])
  }

  @Test func `are in order, end where the next one begins, and lie within the sound`() {
    #expect(
      chapters([(30, "C"), (0, "A"), (12.5, "B"), (100, "end"), (1e300, "never"), (-1, "before")])
        == [
          Chapter(start: 0, end: 12_500, title: "A"),
          Chapter(start: 12_500, end: 30_000, title: "B"),
          Chapter(start: 30_000, end: 100_000, title: "C"),
        ])
    #expect(
      chapters([(2, "A")], within: nil) == [Chapter(start: 2000, end: 3000, title: "A")])
    #expect(chapters([(0.5, "A")], within: 0.2) == [])
  }

  @Test func `of several at one time are the first with a title, and have a number without one`() {
    #expect(
      chapters([(5, nil), (5.0002, "B"), (5, "C"), (9, nil), (1, "A")]).map(\.title)
        == ["A", "C", "Chapter 3"])
  }

  @Test func `do not count the sound before the first one, which M4A files have as one`() {
    #expect(chapters([(0, nil), (5, "A")]).map(\.title) == ["A"])
    #expect(chapters([(0, nil), (5, nil)]).map(\.title) == ["Chapter 1", "Chapter 2"])
    #expect(
      chapters([(5, "A")]).fromBeginning(titled: nil).map(\.title) == ["", "A"])
    #expect(
      chapters([(5, "A")]).fromBeginning(titled: "All").map(\.title) == ["All", "A"])
  }

  @Test(arguments: [
    ("two\r\nlines\u{0}\t of  it ", "two lines of it"), ("😀👩‍👩‍👧‍👦", "😀👩‍👩‍👧‍👦"),
    (String(repeating: "x", count: 4096), String(repeating: "x", count: 255)),
    // 25 bytes each: the eleventh would be cut within.
    (String(repeating: "👩‍👩‍👧‍👦", count: 100), String(repeating: "👩‍👩‍👧‍👦", count: 10)),
    ("\n\u{0} ", nil),
  ])
  func `have titles on one line of at most 255 bytes`(text: String, title: String?) {
    #expect(Chapter.title(text) == title)
  }

  @Test func `are as many as the format counts`() {
    let many = (0..<1000).map { (Double($0) / 10, String?.some("\($0)")) }
    #expect(chapters(many, limit: 255).count == 255)
    let numbers = chapters(many).comments
    #expect(numbers.count == 2 * 999)
    #expect(numbers["CHAPTER998"] == "00:01:39.800" && numbers["CHAPTER998NAME"] == "998")
  }
}

@Suite("Chapters", .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct ChapterFileTests {
  private let scratch: ScratchFolder
  private let pool = WorkerPool(threadCount: 2)

  init() throws { scratch = try ScratchFolder() }

  private static let specs: [ExportSpec] = [
    .aac(bitRate: 96_000), .alac(.bits24), .flac(.bits16, level: 5),
    .mp3(bitRate: 128_000, quality: nil), .opus(bitRate: 96_000), .vorbis(quality: 5),
  ]

  private static let markers = [
    MediaProbe.Marker(time: Seconds(0.5), title: "Prélude = 1"),
    MediaProbe.Marker(time: Seconds(1.25), title: "😀; \\ \"two\""),
    MediaProbe.Marker(time: Seconds(2)),
  ]

  private func cover() throws -> CoverArt {
    let path = scratch.file("cover.png")
    try FFmpeg.run(["-f", "lavfi", "-i", "testsrc=s=120x90", "-frames:v", "1", path])
    return try #require(CoverArt(bytes: Array(bytes(of: path))))
  }

  @Test(
    "are read back by libavformat, and leave every sample as it was", arguments: specs,
    [false, true])
  func copies(spec: ExportSpec, hasCover: Bool) throws {
    let (plain, tagged) = (scratch.file("plain"), scratch.file("tagged"))
    try Sound(frames: 144_000).encode(as: spec, to: plain, pool: pool)
    let picture = hasCover ? try cover() : nil
    let tags = ["title": "Überfahrt"]
    try spec.copy(
      from: plain, to: tagged, tags: tags, cover: picture, chapters: Self.markers)
    #expect(try FFmpeg.decode(tagged) == FFmpeg.decode(plain))
    #expect(try MediaProbe.coverArt(of: SourceFile(tagged)) == picture)
    #expect(try MediaProbe.describe(SourceFile(tagged)).tags["title"] == "Überfahrt")
    let found = try MediaProbe.markers(of: SourceFile(tagged)).filter { $0.time.value > 0 }
    #expect(found.map(\.title) == ["Prélude = 1", "😀; \\ \"two\"", "Chapter 3"])
    #expect(found.map { ($0.time.value * 1000).rounded() } == [500, 1250, 2000])

    let again = scratch.file("again")
    let digest = try spec.copy(
      from: plain, to: again, tags: tags, cover: picture, chapters: Self.markers,
      isDigestWanted: true)
    #expect(try bytes(of: again) == bytes(of: tagged))
    #expect(try digest == SHA256.digest(of: Array(bytes(of: tagged))))
  }

  @Test("of an MP3 file have titles of up to 255 bytes")
  func longTitles() throws {
    let spec = ExportSpec.mp3(bitRate: 128_000, quality: nil)
    let (plain, tagged) = (scratch.file("plain"), scratch.file("tagged"))
    try Sound(frames: 144_000).encode(as: spec, to: plain, pool: pool)
    let titles = [80, 100, 127, 200, 255].map { String(repeating: "t", count: $0) }
    // Their table is longer than 127 bytes, too.
    let short = (0..<40).map { "\($0)" }
    let markers = (titles + short).enumerated().map {
      MediaProbe.Marker(time: Seconds(0.05 * Double($0)), title: $1)
    }
    try spec.copy(
      from: plain, to: tagged, tags: ["title": "Tür", "other": "text"], cover: cover(),
      chapters: markers)
    #expect(try MediaProbe.markers(of: SourceFile(tagged)).map(\.title) == titles + short)
    let description = try MediaProbe.describe(SourceFile(tagged))
    #expect(description.tags["title"] == "Tür" && description.tags["other"] == "text")
    #expect(description.hasCoverArt)
    #expect(try FFmpeg.decode(tagged) == FFmpeg.decode(plain))
  }

  @Test("and tags of an MP3 file have lengths that every reader understands, and a comment is one")
  func lengths() throws {
    let spec = ExportSpec.mp3(bitRate: 128_000, quality: nil)
    let (plain, tagged) = (scratch.file("plain"), scratch.file("tagged"))
    try Sound(frames: 144_000).encode(as: spec, to: plain, pool: pool)
    let title = String(repeating: "t", count: 120)
    try spec.copy(
      from: plain, to: tagged, tags: ["comment": "Größe", "other": "text"],
      chapters: [MediaProbe.Marker(time: Seconds(1), title: title)])
    let bytes = Array(try bytes(of: tagged).prefix(4096))
    #expect(bytes.starts(with: Array("ID3".utf8) + [4]))
    // Every frame of ID3v2.4 begins where the length of the one above says, seven bits in a byte.
    var names: [String] = []
    var start = 10
    while bytes[start] != 0 {
      names.append(String(decoding: bytes[start..<start + 4], as: UTF8.self))
      start += 10 + bytes[start + 4..<start + 8].reduce(0) { $0 << 7 | Int($1) }
    }
    #expect(names.filter { $0 == "COMM" }.count == 1 && names.filter { $0 == "TXXX" }.count == 1)
    #expect(names.contains("CHAP") && names.contains("CTOC"))
    let description = try MediaProbe.describe(SourceFile(tagged))
    #expect(description.tags["comment"] == "Größe" && description.tags["other"] == "text")
    #expect(try MediaProbe.markers(of: SourceFile(tagged)).map(\.title) == [title])
  }

  @Test("of an M4A file begin with its title, where the first chapter comes later")
  func beginning() throws {
    let spec = ExportSpec.aac(bitRate: 96_000)
    let (plain, tagged) = (scratch.file("plain"), scratch.file("tagged"))
    try Sound(frames: 144_000).encode(as: spec, to: plain, pool: pool)
    try spec.copy(
      from: plain, to: tagged, tags: ["title": "Überfahrt"], chapters: [Self.markers[0]])
    #expect(
      try MediaProbe.markers(of: SourceFile(tagged)).map(\.title) == ["Überfahrt", "Prélude = 1"])
  }

  @Test("are the same in an M4A file whose sound is copied whole as in one that is muxed anew")
  func movie() throws {
    let spec = ExportSpec.aac(bitRate: 96_000)
    let (plain, quick, whole) = (
      scratch.file("plain"), scratch.file("quick"), scratch.file("whole")
    )
    try Sound(frames: 144_000).encode(as: spec, to: plain, pool: pool)
    try spec.copy(from: plain, to: quick, tags: [:], cover: cover(), chapters: Self.markers)
    try spec.write(from: plain, to: whole, tags: [:], cover: cover(), chapters: Self.markers)
    #expect(try bytes(of: quick) != bytes(of: whole), "both are muxed anew")
    let lists = try [quick, whole].map { path in
      String(
        decoding: try FFmpeg.run(["-i", path, "-map_metadata", "0", "-f", "ffmetadata", "-"]),
        as: UTF8.self
      ).split(separator: "\n").filter { !$0.hasPrefix("iTunSMPB=") }
    }
    #expect(lists[0] == lists[1] && lists[0].count > 1, "\(lists)")
  }

  @Test("are as many as the format holds", arguments: specs)
  func many(spec: ExportSpec) throws {
    let (plain, tagged) = (scratch.file("plain"), scratch.file("tagged"))
    try Sound(frames: 144_000).encode(as: spec, to: plain, pool: pool)
    let markers = (0..<1000).map {
      MediaProbe.Marker(time: Seconds(Double($0) / 400), title: "Title \($0)")
    }
    try spec.copy(from: plain, to: tagged, tags: [:], chapters: markers)
    let found = try MediaProbe.markers(of: SourceFile(tagged))
    #expect(found.count == spec.chapterLimit)
    #expect(found.last?.title == "Title \(spec.chapterLimit - 1)")
    #expect(try FFmpeg.decode(tagged) == FFmpeg.decode(plain))
  }

  @Test("are none in a WAV file")
  func wave() throws {
    let spec = ExportSpec.wav(.integer(.bits16))
    let (plain, tagged, bare) = (
      scratch.file("plain"), scratch.file("tagged"), scratch.file("bare")
    )
    try Sound(frames: 5000).encode(as: spec, to: plain, pool: pool)
    try spec.copy(from: plain, to: tagged, tags: ["title": "A"], chapters: Self.markers)
    try spec.copy(from: plain, to: bare, tags: ["title": "A"])
    #expect(try bytes(of: tagged) == bytes(of: bare))
  }

  @Test("stand beside covers that every format has, and no others")
  func covers() throws {
    let picture = try cover()
    #expect(picture.obstacle == nil)
    #expect(CoverArt(bytes: [0xff, 0xd8, 0xff, 0xe0, 0, 1])?.obstacle != nil)
    let large = CoverArt(bytes: picture.bytes + [UInt8](repeating: 0, count: 20 << 20))
    #expect(large?.obstacle != nil)
    #expect(
      CoverArt(bytes: picture.bytes + [UInt8](repeating: 0, count: 15 << 20))?.obstacle == nil)
  }
}
