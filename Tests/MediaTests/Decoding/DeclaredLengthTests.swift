import Audio
import Foundation
import Media
import TestSupport
import Testing

@Suite(
  "What a file that is cut off declares",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct DeclaredLengthTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  private func made(_ name: String, _ arguments: String, rate: Int = 48_000) throws -> String {
    let path = scratch.file(name)
    try FFmpeg.run(
      FFmpeg.sound(channels: 1, rate: rate, seconds: 3)
        + arguments.split(separator: " ").map(String.init) + [path])
    return path
  }

  private func cut(_ path: String, to count: Int) throws -> Decoding {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(count)
    let target = scratch.file("cut-" + path.split(separator: "/").suffix(1).joined())
    try bytes.write(to: URL(fileURLWithPath: target))
    return try Decoding(of: target, options: DecoderOptions(keepsDamaged: true))
  }

  @Test(
    "is not the time of the last packet that is there",
    arguments: [
      ("a.opus", "-c:a libopus"), ("b.opus", "-c:a libopus -page_duration 200000"),
      ("a.ogg", "-c:a libvorbis -page_duration 200000"),
      ("a.spx", "-c:a libspeex -ar 16000 -page_duration 200000"), ("f.ogg", "-c:a flac"),
      ("a.ts", "-c:a aac"), ("a.mpg", "-c:a mp2"),
    ])
  func lastTime(name: String, arguments: String) throws {
    let path = try made(name, arguments)
    let count = try Data(contentsOf: URL(fileURLWithPath: path)).count
    for share in [0.4, 0.6, 0.83] {
      let kept = try cut(path, to: Int(Double(count) * share))
      #expect(kept.declaredLength == nil, "\(share)")
    }
    #expect(try Decoding(of: path).declaredLength == nil)
  }

  @Test(
    "is the sound of an MP3, without what its encoder added",
    arguments: [
      (48_000, "-b:a 64k"), (44_100, "-q:a 4"), (22_050, "-b:a 32k"),
      (44_100, "-b:a 128k -id3v2_version 3 -metadata title=Walk"),
    ])
  func encoderPadding(rate: Int, arguments: String) throws {
    let path = try made("a.mp3", "-c:a libmp3lame " + arguments, rate: rate)
    let count = try Data(contentsOf: URL(fileURLWithPath: path)).count
    let whole = try Decoding(of: path)
    #expect(whole.frameCount == 3 * rate && whole.doubt == nil)
    for missing in [1, 300, 2000, count / 2] {
      let kept = try cut(path, to: count - missing)
      #expect(kept.damages.contains { $0.kind == .truncated })
      let declared = kept.declaredLength?.frames(at: kept.format.sampleRate).count
      #expect(declared ?? kept.frameCount == whole.frameCount, "\(missing) bytes")
    }
  }
}
