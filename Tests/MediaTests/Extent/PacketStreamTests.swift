import Foundation
import Media
import TestSupport
import Testing

@Suite(
  "The end of an MPEG program or transport stream",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct PacketStreamTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// Streams, and the length of their packets where all have the same.
  private static let formats: [(arguments: String, packet: Int?)] = [
    ("mpg -c:a mp2", nil), ("vob -c:a mp2 -f vob", nil), ("vob -c:a ac3 -f dvd", nil),
    ("ts -c:a mp2", 188), ("ts -c:a aac", 188), ("m2ts -c:a ac3", 192),
  ]

  private func made(_ format: String) throws -> Data {
    let words = format.split(separator: " ").map(String.init)
    let path = scratch.file("tone.\(words[0])")
    try FFmpeg.run(FFmpeg.sound(channels: 1, seconds: 4) + words.dropFirst() + [path])
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test("is missed wherever the file ends inside a packet", arguments: formats)
  func cuts(format: (arguments: String, packet: Int?)) throws {
    let whole = try made(format.arguments)
    #expect(try scratch.extent(whole) == .whole)
    var between = 0
    let first = whole.count / 4
    for length in stride(from: first, to: whole.count, by: max(7, whole.count / 499)) {
      let found = try scratch.extent(whole.prefix(length))
      #expect(found == .whole || isIncomplete(found))
      if let packet = format.packet {
        #expect(isIncomplete(found) == (length % packet > (packet == 192 ? 4 : 0)), "\(length)")
      } else if found == .whole {
        between += 1
      }
    }
    #expect(between < 10)
    for cut in 1...40 where format.packet != nil || format.arguments.hasPrefix("mpg") {
      #expect(isIncomplete(try scratch.extent(whole.dropLast(cut))), "\(cut)")
    }
  }

  @Test("is doubted where zeros follow, and missed where other bytes do", arguments: formats)
  func overwritten(format: (arguments: String, packet: Int?)) throws {
    let whole = try made(format.arguments)
    var chance = SeededRandom(seed: 7)
    for share in [0.3, 0.6, 0.8] {
      let kept = Int(Double(whole.count) * share)
      let zeroed = whole.prefix(kept) + Data(count: whole.count - kept)
      #expect(try scratch.extent(zeroed) == .unended("zeros follow its last packet"))
      let noise = Data(
        (0..<whole.count - kept).map { _ in UInt8.random(in: 0...255, using: &chance) })
      #expect(isIncomplete(try scratch.extent(whole.prefix(kept) + noise)), "\(share)")
    }
  }

  @Test("has padding, stray bytes and tags behind it without harm", arguments: formats)
  func harmless(format: (arguments: String, packet: Int?)) throws {
    let whole = try made(format.arguments)
    for rest in [Data([7]), Data(count: 4096), Data("TAG".utf8) + Data(count: 125)] {
      #expect(try scratch.extent(whole + rest) == .whole, "\(rest.count) bytes")
    }
    #expect(try scratch.extent(whole + whole) == .whole)
  }

  @Test("is judged behind damage in the middle", arguments: formats)
  func damageInside(format: (arguments: String, packet: Int?)) throws {
    let whole = try made(format.arguments)
    let middle = whole.count / 2
    let removed = whole.prefix(middle) + whole.suffix(whole.count - middle - 3001)
    let zeroed =
      whole.prefix(middle) + Data(count: 3000) + whole.suffix(whole.count - middle - 3000)
    for bytes in [removed, zeroed] {
      #expect(try scratch.extent(bytes) == .whole)
      #expect(isIncomplete(try scratch.extent(bytes.dropLast(20))))
    }
  }
}
