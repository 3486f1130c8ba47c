import Audio
import Foundation
import Media
import TestSupport
import Testing

@Suite(
  "Packets that a demuxer passes over",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct LostPacketsTests {
  private let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// A kind of file: its ending, and ffmpeg's arguments.
  typealias Kind = (ending: String, arguments: String)

  private func made(_ kind: Kind, seconds: Double = 8) throws -> Data {
    let path = scratch.file("whole.\(kind.ending)")
    try FFmpeg.run(
      FFmpeg.sound(rate: 44_100, seconds: seconds)
        + kind.arguments.split(separator: " ").map(String.init) + [path])
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  private func decoded(_ bytes: Data, _ kind: Kind, keeps: Bool = false) throws -> Decoding {
    let path = scratch.file("x.\(kind.ending)")
    try bytes.write(to: URL(fileURLWithPath: path))
    return try Decoding(of: path, options: DecoderOptions(keepsDamaged: keeps))
  }

  private func zeroed(_ bytes: Data, at place: Double, count: Int) -> Data {
    var bytes = bytes
    let start = Int(Double(bytes.count) * place)
    bytes.resetBytes(in: start..<start + count)
    return bytes
  }

  @Test(
    "are missed by the times of others, and silence stands for them",
    arguments: [
      ("wma", "-c:a wmav2 -b:a 128k"), ("wma", "-c:a wmav1 -b:a 64k"), ("asf", "-c:a libmp3lame"),
      ("asf", "-c:a ac3"), ("asf", "-c:a pcm_s16le"), ("asf", "-c:a aac"), ("ts", "-c:a aac"),
      ("ts", "-c:a mp2"), ("ts", "-c:a ac3"),
    ])
  func times(kind: Kind) throws {
    let bytes = try made(kind)
    let whole = try decoded(bytes, kind)
    #expect(whole.damages.isEmpty && whole.doubt == nil)
    for place in stride(from: 0.23, to: 0.9, by: 0.11) {
      for count in [512, 3000] {
        let harmed = zeroed(bytes, at: place, count: count)
        let refused = try? decoded(harmed, kind)
        let note: Comment = "\(kind), \(count) bytes at \(place)"
        #expect(refused.map { $0.frameCount == whole.frameCount } ?? true, note)
        let kept = try decoded(harmed, kind, keeps: true)
        // Where a parser splits the stream, what is left of a frame may count.
        let isSplit = kind.ending == "ts" || kind.arguments.hasSuffix("ac3")
        let error = isSplit ? 4 * 1152 : 100
        #expect(abs(kept.frameCount - whole.frameCount) <= error, note)
        #expect(refused != nil || !kept.damages.isEmpty, note)
      }
    }
  }

  @Test(
    "are none in a whole file, whatever its times are",
    arguments: [
      ("wma", "-c:a wmav2 -ar 8000 -b:a 32k"), ("wma", "-c:a wmav2 -ar 22050 -b:a 192k"),
      ("wma", "-c:a wmav1 -ar 11025 -b:a 32k"), ("asf", "-c:a flac"), ("asf", "-c:a mp2"),
      ("ts", "-c:a libopus -ar 48000 -frame_duration 60"), ("ts", "-c:a eac3"),
      ("mpg", "-c:a ac3"), ("mpg", "-c:a mp2"), ("mka", "-c:a libvorbis"),
      ("webm", "-c:a libopus -ar 48000"), ("flv", "-c:a aac"), ("avi", "-c:a libmp3lame -q:a 3"),
      ("mp4", "-c:a aac -movflags frag_keyframe+empty_moov"), ("caf", "-c:a alac"),
      ("caf", "-c:a libopus -ar 48000"), ("caf", "-c:a adpcm_ima_qt"),
    ])
  func whole(kind: Kind) throws {
    let whole = try decoded(try made(kind, seconds: 9.37), kind)
    #expect(whole.damages.isEmpty)
    #expect(whole.frameCount > 9 * 8000)
  }

  @Test(
    "of an AVI file are doubted by what its header counts",
    arguments: [("libmp3lame", 3000), ("pcm_s16le", 20_000)])
  func counted(encoder: String, count: Int) throws {
    let kind = ("avi", "-c:a \(encoder)")
    let bytes = try made(kind)
    #expect(try decoded(bytes, kind).doubt == nil)
    let doubt = try? decoded(zeroed(bytes, at: 0.5, count: count), kind).doubt
    #expect(doubt?.hasPrefix("its header counts 8.0") ?? true)
  }

  @Test(
    "of a CAF file are counted by its table",
    arguments: ["anoisesrc=d=4:a=0.3:seed=3", "anoisesrc=d=4:a=0.01:seed=3"],
    [0.2, 0.35, 0.5, 0.65, 0.8])
  func table(sound: String, place: Double) throws {
    let kind = ("caf", "-c:a alac")
    let path = scratch.file("whole.caf")
    try FFmpeg.run(["-f", "lavfi", "-i", sound, "-c:a", "alac", path])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let whole = try decoded(bytes, kind)
    for count in [3000, 15_000] {
      let kept = try decoded(zeroed(bytes, at: place, count: count), kind, keeps: true)
      #expect(kept.frameCount == whole.frameCount)
      #expect(kept.samples.suffix(4096) == whole.samples.suffix(4096))
      guard !kept.damages.isEmpty else { continue }
      let lost = kept.damages.reduce(0) { $0 + ($1.lost?.value ?? 0) }
      #expect(lost > 0)
    }
  }
}
