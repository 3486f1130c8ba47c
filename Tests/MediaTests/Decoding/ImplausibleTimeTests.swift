import Audio
import Foundation
import Media
import Platform
import TestSupport
import Testing

@Suite(
  "A time that cannot be",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct ImplausibleTimeTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// The checksum of an Ogg page (RFC 3533, section 6).
  private func checksum(_ page: Data) -> UInt32 {
    page.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte) << 24) { value, _ in
        value << 1 ^ (value & 0x8000_0000 != 0 ? 0x04c1_1db7 : 0)
      }
    }
  }

  /// Sets the position of a page.
  private func place(_ page: Range<Int>, of bytes: Data, at position: UInt64) -> Data {
    func digits(_ value: UInt64, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
    var data = Data(bytes[page])
    data.replaceSubrange(6..<14, with: digits(position, 8))
    data.replaceSubrange(22..<26, with: digits(0, 4))
    data.replaceSubrange(22..<26, with: digits(UInt64(checksum(data)), 4))
    return bytes[..<page.lowerBound] + data + bytes[page.upperBound...]
  }

  @Test(
    "in an Ogg page makes no sound longer, and ends no run",
    arguments: ["libopus", "libvorbis", "flac", "libspeex"])
  func granules(codec: String) throws {
    let path = scratch.file("a.ogg")
    try FFmpeg.run(
      FFmpeg.sound(channels: 1, rate: 16_000, seconds: 3)
        + ["-bitexact", "-page_duration", "200000", "-c:a", codec, path])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let whole = try Decoding(of: path).frameCount
    let last = try #require(bytes.range(of: Data("OggS".utf8), options: .backwards)).lowerBound
    let middle = try #require(
      bytes.range(of: Data("OggS".utf8), in: bytes.count / 2..<bytes.count)
    ).lowerBound
    let next = try #require(
      bytes.range(of: Data("OggS".utf8), in: middle + 4..<bytes.count)
    ).lowerBound
    for page in [last..<bytes.count, middle..<next] {
      for position: UInt64 in [.max, .max / 2, 10_000_000_000_000] {
        try place(page, of: bytes, at: position).write(to: URL(fileURLWithPath: path))
        _ = try? MediaProbe.describe(SourceFile(path))
        let kept = try Decoding(of: path, options: DecoderOptions(keepsDamaged: true))
        #expect(abs(kept.frameCount - whole) <= 24_000, "\(codec), \(page), \(position)")
      }
    }
  }
}
