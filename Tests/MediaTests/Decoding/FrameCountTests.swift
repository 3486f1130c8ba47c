import Foundation
import Media
import TestSupport
import Testing

@Suite(
  "The header of an MP3 counts its frames",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct FrameCountTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// A recording in frames of 384 bytes, whose header counts them and not the bytes.
  private func made() throws -> Data {
    let path = scratch.file("whole.mp3")
    try FFmpeg.run(
      FFmpeg.sound(channels: 1, seconds: 6) + ["-bitexact", "-c:a", "libmp3lame", "-b:a", "128k"]
        + [path])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let place = try #require(bytes.range(of: Data("Info".utf8))).lowerBound
    let frames = bytes[place + 8..<place + 12]
    bytes.replaceSubrange(place + 4..<place + 124, with: [0, 0, 0, 1] + frames + Data(count: 112))
    return bytes
  }

  private func doubt(_ bytes: Data) throws -> String? {
    let path = scratch.file("x.mp3")
    try bytes.write(to: URL(fileURLWithPath: path))
    return try Decoding(of: path).doubt
  }

  @Test("and whole frames that are missing are told")
  func missingFrames() throws {
    let whole = try made()
    #expect(try doubt(whole) == nil)
    let middle = whole.count / 2
    let cut = whole[..<middle] + whole[(middle + 8 * 384)...]
    // A tag behind it would hide the loss from a count of bytes.
    for tail in [Data(), Data("TAG".utf8) + Data(count: 125)] {
      let doubt = try #require(try doubt(cut + tail))
      #expect(doubt.hasPrefix("its header counts 6.0"), "\(doubt)")
      #expect(doubt.hasSuffix("s of them are missing"))
    }
  }
}
