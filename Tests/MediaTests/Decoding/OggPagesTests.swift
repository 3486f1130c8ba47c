import Foundation
@testable import Media
import TestSupport
import Testing

@Suite(
  "The pages of an Ogg file",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct OggPagesTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// A recording of short pages, and where each of them is.
  private func made(_ codec: String) throws -> (bytes: Data, pages: [Range<Int>]) {
    let path = scratch.file("whole.ogg")
    try FFmpeg.run(
      FFmpeg.sound(channels: 1, rate: 16_000, seconds: 6)
        + ["-bitexact", "-page_duration", "200000", "-c:a", codec, path])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    var pages: [Range<Int>] = []
    var start = 0
    while start < bytes.count {
      let body = start + 27 + Int(bytes[start + 26])
      let end = bytes[start + 27..<body].reduce(body) { $0 + Int($1) }
      pages.append(start..<end)
      start = end
    }
    return (bytes, pages)
  }

  private func decoded(_ bytes: Data, keepsDamaged: Bool = false) throws -> Decoding {
    let path = scratch.file("x.ogg")
    try bytes.write(to: URL(fileURLWithPath: path))
    return try Decoding(of: path, options: DecoderOptions(keepsDamaged: keepsDamaged))
  }

  private static let codecs = ["libopus", "libvorbis", "flac", "libspeex"]

  @Test("that are there twice are read once", arguments: codecs)
  func repeated(codec: String) throws {
    let (bytes, pages) = try made(codec)
    let whole = try decoded(bytes)
    let middle = pages.count / 2
    for count in [1, 3] {
      let again = bytes[pages[middle - count + 1].lowerBound..<pages[middle].upperBound]
      let found = try decoded(
        bytes[..<pages[middle].upperBound] + again + bytes[pages[middle].upperBound...])
      #expect(found.samples == whole.samples, "\(count) pages")
      #expect(found.doubt == nil)
    }
  }

  @Test("that are missing are told, and replaced by silence of their length", arguments: codecs)
  func missing(codec: String) throws {
    let (bytes, pages) = try made(codec)
    let whole = try decoded(bytes)
    let middle = pages[pages.count / 2]
    let cut = bytes[..<middle.lowerBound] + bytes[middle.upperBound...]
    #expect(throws: (any Error).self) { try decoded(cut) }
    let kept = try decoded(cut, keepsDamaged: true)
    #expect(kept.damages.count == 1)
    #expect(abs(kept.frameCount - whole.frameCount) <= 512)
  }

  @Test("that are damaged at the end are told, wherever the damage is", arguments: codecs)
  func damagedEnd(codec: String) throws {
    let (bytes, pages) = try made(codec)
    let last = try #require(pages.last)
    let before = pages[pages.count - 2]
    for place in [last.lowerBound + 8, last.lowerBound + 40, last.upperBound - 1] {
      var flipped = bytes
      flipped[place] ^= 4
      #expect(throws: (any Error).self, "byte \(place)") { try decoded(flipped) }
    }
    // The last page but one reaches over the last then.
    let middle = (before.lowerBound + before.upperBound) / 2
    #expect(throws: (any Error).self) {
      try decoded(bytes[..<middle] + bytes[(middle + 20)...])
    }
  }

  @Test("that are missing before the first sound are told", arguments: ["libopus", "libvorbis"])
  func beginning(codec: String) throws {
    let (bytes, pages) = try made(codec)
    let first = try #require(
      pages.first { page in bytes[page.lowerBound + 6..<page.lowerBound + 14].contains { $0 != 0 } }
    )
    let found = try decoded(bytes[..<first.lowerBound] + bytes[first.upperBound...])
    #expect(found.doubt == "pages before its first sound are missing")
    #expect(try decoded(bytes).doubt == nil)
  }

  @Test(
    "of two recordings in one file are all read, though their numbers begin anew",
    arguments: codecs)
  func chained(codec: String) throws {
    let (bytes, _) = try made(codec)
    let whole = try decoded(bytes)
    for between in [Data(), Data("TAG".utf8) + Data(count: 125)] {
      let found = try decoded(bytes + between + bytes)
      #expect(found.frameCount >= 2 * whole.frameCount - 512)
      #expect(found.damages.isEmpty)
    }
  }

  @Test(
    "that are damaged at the end of a recording which another one follows are told",
    arguments: codecs)
  func damagedEndOfFirst(codec: String) throws {
    let (bytes, pages) = try made(codec)
    let whole = try decoded(bytes)
    let last = try #require(pages.last)
    for place in [last.lowerBound + 8, last.lowerBound + 40, last.upperBound - 1] {
      var flipped = bytes
      flipped[place] ^= 4
      #expect(throws: (any Error).self, "byte \(place)") { try decoded(flipped + bytes) }
      let kept = try decoded(flipped + bytes, keepsDamaged: true)
      #expect(kept.damages.count == 1, "byte \(place)")
      // The first of the bytes is one of the page's position.
      let isPosition = place == last.lowerBound + 8
      #expect(abs(kept.frameCount - 2 * whole.frameCount) <= (isPosition ? 16_000 : 1024))
    }
  }
}
