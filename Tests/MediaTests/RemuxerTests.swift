import AudioModel
import Foundation
import TestSupport
import Testing
import Threading

@testable import Media

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
      .wav(.integer(.bits24)), .wav(.float32),
    ])
  func copies(spec: ExportSpec) throws {
    let plain = scratch.file("plain")
    try Sound(frames: 123_457).encode(as: spec, to: plain, pool: pool)
    let tagged = scratch.file("tagged")
    let picture = try cover("cover.jpg")
    try Remuxer.copy(from: plain, to: tagged, spec: spec, tags: Self.tags, cover: picture)
    #expect(try FFmpeg.decode(tagged) == FFmpeg.decode(plain))

    let before = try MediaProbe.describe(plain)
    let after = try MediaProbe.describe(tagged)
    #expect(after.expectedFrames == before.expectedFrames)
    #expect(after.codec == before.codec)
    for (name, value) in Self.tags { #expect(after.tags[name] == value) }
    if case .wav = spec {
      #expect(!after.hasCoverArt)
    } else {
      #expect(try MediaProbe.coverArt(of: tagged) == picture)
    }
    // The reference program reads the same tags.
    let listed = String(
      decoding: try FFmpeg.run(["-i", tagged, "-f", "ffmetadata", "-"]), as: UTF8.self)
    #expect(listed.contains("title=Überfahrt") || listed.contains("TITLE=Überfahrt"))

    let again = scratch.file("again")
    try Remuxer.copy(from: plain, to: again, spec: spec, tags: Self.tags, cover: picture)
    #expect(try bytes(of: again) == bytes(of: tagged))
  }

  @Test("keeps the priming of a file that the ffmpeg program made", arguments: ["a.m4a"])
  func foreign(name: String) throws {
    let path = scratch.file(name)
    try FFmpeg.run(FFmpeg.sound(seconds: 2.5) + ["-c:a", "aac", path])
    let copy = scratch.file("copy")
    try Remuxer.copy(
      from: path, to: copy, spec: .aac(bitRate: 0), tags: ["creation_time": "2026-03-14T15:09:26Z"],
      cover: cover("cover.png"))
    #expect(try FFmpeg.decode(copy) == FFmpeg.decode(path))
    #expect(try MediaProbe.describe(copy).tags["creation_time"] == "2026-03-14T15:09:26.000000Z")
  }
}
