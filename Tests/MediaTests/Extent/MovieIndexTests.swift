import Foundation
import Media
import TestSupport
import Testing

@Suite(
  "An index of an MP4 file that contradicts itself",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct MovieIndexTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private static let formats = ["m4a -c:a aac", "m4a -c:a alac", "mov -c:a pcm_s16le"]

  /// A file of four seconds, and where its boxes lie, by the names of their parents and their own.
  private func made(_ format: String) throws -> (bytes: Data, boxes: [(name: String, Range<Int>)]) {
    let words = format.split(separator: " ").map(String.init)
    let path = scratch.file("tone.\(words[0])")
    try FFmpeg.run(
      FFmpeg.sound(channels: 1, rate: 8000, seconds: 4) + words.dropFirst() + ["-bitexact", path])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    return (bytes, Self.boxes(of: bytes, in: 0..<bytes.count))
  }

  private static func boxes(
    of bytes: Data, in range: Range<Int>, _ parents: String = ""
  ) -> [(name: String, Range<Int>)] {
    var found: [(name: String, Range<Int>)] = []
    var start = range.lowerBound
    while start + 8 <= range.upperBound {
      let end = start + max(8, number(bytes, start, 4))
      let name = parents + String(decoding: bytes[start + 4..<start + 8], as: UTF8.self)
      found.append((name, start..<end))
      if ["moov", "trak", "mdia", "minf", "stbl", "edts"].contains(name.suffix(4)) {
        found += boxes(of: bytes, in: start + 8..<end, name + "/")
      }
      start = end
    }
    return found
  }

  private static func number(_ bytes: Data, _ start: Int, _ count: Int) -> Int {
    bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
  }

  private func put(_ value: Int, in bytes: inout Data, at start: Int) {
    for index in 0..<4 {
      bytes[start + index] = UInt8(truncatingIfNeeded: value >> (24 - 8 * index))
    }
  }

  /// What becomes of a file: the share of its sound; nil if it is refused.
  private func read(
    _ bytes: Data, _ format: String, of whole: Int
  ) throws -> (share: Double, doubt: String?)? {
    let path = scratch.file("x.\(format.prefix(3))")
    try bytes.write(to: URL(fileURLWithPath: path))
    guard let decoding = try? Decoding(of: path) else { return nil }
    return (Double(decoding.frameCount) / Double(whole), decoding.doubt)
  }

  private func place(
    _ name: String, _ offset: Int, in boxes: [(name: String, Range<Int>)]
  ) throws -> Int {
    try #require(boxes.first { $0.name == name }).1.lowerBound + offset
  }

  @Test("loses no second of its sound without a word, whichever bit is flipped", arguments: formats)
  func flips(format: String) throws {
    let (bytes, boxes) = try made(format)
    let index = boxes.filter { $0.name.hasPrefix("moov") }
    #expect(index.count > 15)
    // Tables are long, and their entries do not count.
    let places = Set(index.flatMap { $0.1.prefix($0.name.contains("udta") ? 8 : 44) })
    // All eight bits take minutes.
    for place in places.sorted() {
      for bit in [place % 8, (place / 8 + place * 3) % 8] {
        var flipped = bytes
        flipped[place] ^= 1 << UInt8(bit)
        guard let found = try read(flipped, format, of: 32_000), found.doubt == nil else {
          continue
        }
        let box = index.last { $0.1.contains(place) }
        #expect(
          found.share >= 0.87,
          "bit \(bit) of byte \(place - (box?.1.lowerBound ?? 0)) of \(box?.name ?? "none")")
      }
    }
  }

  @Test("is refused where it has no time scale of the sound", arguments: formats)
  func withoutMediaHeader(format: String) throws {
    var (bytes, boxes) = try made(format)
    bytes[try place("moov/trak/mdia/mdhd", 5, in: boxes)] ^= 2
    #expect(try read(bytes, format, of: 32_000) == nil)
  }

  @Test("may have an edit list that plays less than half of the sound", arguments: formats)
  func edits(format: String) throws {
    let (bytes, boxes) = try made(format)
    let header = try place("moov/mvhd", 20, in: boxes)
    let scale = Self.number(bytes, header, 4)
    let list = try place("moov/trak/edts/elst", 16, in: boxes)
    let track = try place("moov/trak/tkhd", 28, in: boxes)
    var edited = bytes
    for place in [list, track, header + 4] { put(scale * 3 / 2, in: &edited, at: place) }
    let found = try #require(try read(edited, format, of: 32_000))
    #expect(abs(found.share - 0.375) < 0.01 && found.doubt == nil)

    var contradicting = edited
    put(scale * 4, in: &contradicting, at: track)
    #expect(try read(contradicting, format, of: 32_000) == nil)

    put(scale * 4, in: &edited, at: header + 4)
    let doubted = try #require(try read(edited, format, of: 32_000))
    #expect(doubted.doubt?.hasPrefix("its edit list plays 1.5") == true, "\(doubted)")
  }

  @Test(
    "is refused where another time scale makes its edit list as long as the sound, else doubted",
    arguments: formats)
  func timeScale(format: String) throws {
    var (bytes, boxes) = try made(format)
    let header = try place("moov/mvhd", 20, in: boxes)
    let scale = Self.number(bytes, header, 4)
    bytes[header + 1] ^= 0x10
    #expect(try read(bytes, format, of: 32_000) == nil)

    put(2997, in: &bytes, at: header)
    for place in [
      header + 4, try place("moov/trak/edts/elst", 16, in: boxes),
      try place("moov/trak/tkhd", 28, in: boxes),
    ] {
      put(scale, in: &bytes, at: place)
    }
    let doubted = try #require(try read(bytes, format, of: 32_000))
    #expect(doubted.doubt?.hasSuffix("which is unusual") == true, "\(doubted)")
  }
}
