import Audio
import Foundation
import Media
import TestSupport
import Testing

@Suite(
  "Damaged sound that is kept",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct KeptDamageTests {
  let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  /// Something that happens to the bytes of a file.
  enum Harm: String, CaseIterable, Sendable {
    case inverted, random, zeros, removed, inserted

    /// The file's bytes with `count` of them harmed from `offset` on.
    func harmed(_ data: Data, at offset: Int, count: Int) -> Data {
      var data = data
      let range = offset..<offset + count
      var generator = SeededBytes(state: UInt64(offset + count))
      switch self {
      case .inverted: for index in range { data[index] ^= 0x5a }
      case .random: for index in range { data[index] = generator.byte() }
      case .zeros: data.resetBytes(in: range)
      case .removed: data.removeSubrange(range)
      case .inserted: data.insert(contentsOf: range.map { _ in generator.byte() }, at: offset)
      }
      return data
    }
  }

  /// Bytes that look random, and are the same in every run.
  struct SeededBytes {
    var state: UInt64

    mutating func byte() -> UInt8 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }

  /// Six seconds of stereo as a file; frames of 4096 samples in FLAC.
  func recording(_ name: String) throws -> (path: String, data: Data, whole: Decoding) {
    let path = scratch.file(name)
    let sound = "0.4*sin(2*PI*220*t+sin(3*t))+0.003*(random(1)-0.5)|0.3*sin(2*PI*330*t+sin(2*t))"
    let format = name.hasSuffix("flac") ? ["-sample_fmt", "s16", "-frame_size", "4096"] : []
    try FFmpeg.run(
      ["-f", "lavfi", "-i", "aevalsrc='\(sound)':s=44100:d=6.3"] + format
        + (name.hasSuffix("m4a") ? ["-c:a", "alac"] : []) + [path])
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    return (path, data, try Decoding(of: path))
  }

  /// Decodes the recording with harm done to it.
  func kept(_ name: String, _ data: Data) throws -> Decoding {
    let path = scratch.file("harmed-" + name)
    try data.write(to: URL(fileURLWithPath: path))
    return try Decoding(of: path, options: DecoderOptions(keepsDamaged: true))
  }

  /// The frames that differ, of those that are not silent in `kept`.
  func misplaced(_ kept: Decoding, _ whole: Decoding) -> [Int] {
    (0..<min(kept.frameCount, whole.frameCount)).filter { frame in
      let samples = 2 * frame..<2 * frame + 2
      return kept.samples[samples] != whole.samples[samples]
        && kept.samples[samples].contains { $0 != 0 }
    }
  }

  @Test(
    "of a FLAC file has its length, and every sample that remains its place",
    arguments: Harm.allCases, [0.015, 0.3, 0.52, 0.77])
  func flac(harm: Harm, place: Double) throws {
    let (_, data, whole) = try recording("a.flac")
    for count in [7, 4000, 30_000] {
      let offset = 8300 + Int(Double(data.count - 8300) * place)
      let kept = try kept("a.flac", harm.harmed(data, at: offset, count: count))
      #expect(kept.frameCount == whole.frameCount, "\(count) bytes")
      #expect(misplaced(kept, whole) == [], "\(count) bytes")
      #expect(!kept.damages.isEmpty)
      // Frames of 4096 samples in about 4 kB: what is lost is what was hit, to the frame.
      let silent = (0..<kept.frameCount).count { frame in
        kept.samples[2 * frame] == 0 && kept.samples[2 * frame + 1] == 0
      }
      #expect(silent <= 4096 * (count / 3000 + 2), "\(count) bytes")
    }
  }

  @Test(
    "at the beginning or the end of a FLAC file is filled too", arguments: [Harm.inverted, .zeros])
  func flacEnds(harm: Harm) throws {
    let (_, data, whole) = try recording("a.flac")
    for (offset, count) in [
      (8200, 4000), (8200, 30_000), (data.count - 900, 900), (data.count - 30_000, 30_000),
    ] {
      let kept = try kept("a.flac", harm.harmed(data, at: offset, count: count))
      #expect(kept.frameCount == whole.frameCount, "\(count) bytes at \(offset)")
      #expect(misplaced(kept, whole) == [], "\(count) bytes at \(offset)")
    }
  }
}
