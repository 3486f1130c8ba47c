import Audio
import Foundation
import Media
import TestSupport
import Testing

@Suite(
  "Silence in place of lost sound",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct FilledLengthTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// A byte of every so many is another one.
  private func harmed(_ data: Data, from start: Int, each stride: Int) -> Data {
    var data = data
    for index in Swift.stride(from: start, to: data.count, by: stride) { data[index] ^= 0x5a }
    return data
  }

  @Test(
    "makes no recording longer, whose packets hold several blocks",
    arguments: [
      ("a.wav", "adpcm_ms"), ("b.aiff", "adpcm_ima_qt"), ("c.caf", "adpcm_ima_qt"),
      ("d.wma", "wmav2"), ("e.aac", "aac"), ("f.wav", "adpcm_ima_wav"),
    ])
  func severalBlocks(name: String, codec: String) throws {
    let path = scratch.file(name)
    try FFmpeg.run(
      FFmpeg.sound(channels: 2, rate: 32_000, seconds: 6) + ["-c:a", codec, path])
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let whole = try Decoding(of: path).frameCount
    for stride in [97, 331, 1009, 2503] {
      try harmed(data, from: 700, each: stride).write(to: URL(fileURLWithPath: path))
      let kept = try Decoding(of: path, options: DecoderOptions(keepsDamaged: true))
      #expect(kept.frameCount <= whole, "every \(stride)th byte")
    }
  }

  @Test("stands only for those blocks of a packet that gave nothing")
  func halfPacket() throws {
    let path = scratch.file("a.wav")
    try FFmpeg.run(
      FFmpeg.sound(channels: 2, rate: 44_100, seconds: 4) + ["-c:a", "adpcm_ms", path])
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let whole = try Decoding(of: path)
    // The second of four blocks in a packet begins with a predictor that there is not.
    let start = try #require(data.range(of: Data("data".utf8))).upperBound + 4
    data[start + 5 * 1024] = 200
    try data.write(to: URL(fileURLWithPath: path))
    let kept = try Decoding(of: path, options: DecoderOptions(keepsDamaged: true))
    #expect(!kept.damages.isEmpty)
    #expect(kept.frameCount == whole.frameCount)
    let behind = 2 * 8 * 1012
    #expect(kept.samples[behind...] == whole.samples[behind...])
  }
}
