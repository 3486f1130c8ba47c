import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite(
  "MP3, Opus and Vorbis", .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct LossyFormatTests {
  let scratch: ScratchFolder
  let pool = WorkerPool(threadCount: 1)

  init() throws { scratch = try ScratchFolder() }

  static let specs: [ExportSpec] = [
    .mp3(bitRate: 128_000, quality: nil), .mp3(bitRate: 192_000, quality: nil),
    .mp3(bitRate: 0, quality: 2), .opus(bitRate: 128_000),
    .vorbis(quality: 6),
  ]

  @Test("have the sound's own length", arguments: specs, [30_000, 47_999, 48_000, 100_001])
  func length(spec: ExportSpec, frames: Int) throws {
    let sound = Sound(frames: frames)
    let path = scratch.file("export")
    try sound.encode(as: spec, to: path, pool: pool)
    #expect(try FFmpeg.decode(path).count == 2 * frames)
  }

  @Test(
    "of the shortest sound have no more than the codec's padding", arguments: specs, [1, 1153])
  func shortLength(spec: ExportSpec, frames: Int) throws {
    let path = scratch.file("export")
    try Sound(frames: frames).encode(as: spec, to: path, pool: pool)
    let surplus = try FFmpeg.decode(path).count / 2 - frames
    switch spec {
    case .opus: #expect(surplus == 0)
    // LAME's delay exceeds what libavcodec drops of one packet, after 1 to 46 samples of the last.
    case .mp3: #expect((0...46).contains(surplus))
    // Of one page, ffmpeg's decoder misses half a short block, or drops nothing.
    default: #expect((-128...1024).contains(surplus))
    }
  }

  @Test("have the nearest rate that they support", arguments: specs, [8000, 22050, 37_800, 96000])
  func rates(spec: ExportSpec, rate: Int) throws {
    let sound = Sound(channels: 1, rate: rate, frames: rate)
    let path = scratch.file("export")
    try sound.encode(as: spec, to: path, pool: pool)
    let found = try MediaProbe.describe(SourceFile(path)).format
    let expected: Double =
      switch (spec, rate) {
      case (.opus, _), (.mp3, 96000): 48000
      case (_, 37_800): 44100
      default: Double(rate)
      }
    #expect(found == AudioFormat(sampleRate: Hertz(expected), channelCount: 1))
    let count = try FFmpeg.decode(path).count
    #expect(abs(Double(count) - expected) <= 1, "one second has \(count) frames")
  }

  @Test("keep loudness and true peak", arguments: specs)
  func levels(spec: ExportSpec) throws {
    let sound = Sound(pluckedFor: 8 * 48000)
    let (before, after) = (scratch.file("before"), scratch.file("after"))
    try sound.encode(as: .wav(.float32), to: before, pool: pool)
    try sound.encode(as: spec, to: after, pool: pool)
    let (expected, found) = (try measured(before), try measured(after))
    #expect(abs(found.loudness - expected.loudness) < 0.2)
    #expect(abs(found.truePeak - expected.truePeak) < 0.5)
    let (reference, decoded) = (sound.interleaved, try FFmpeg.decode(after))
    #expect(signalToNoise(reference, decoded, in: 96_000..<672_000) > 10, "not in place")
  }

  /// The loudness in LUFS and the true peak in dBTP that the ffmpeg program finds.
  private func measured(_ path: String) throws -> (loudness: Double, truePeak: Double) {
    let filter = "ebur128=peak=true:metadata=1,ametadata=print:file=-"
    let text = String(
      decoding: try FFmpeg.run(["-i", path, "-af", filter, "-f", "null", "/dev/null"]),
      as: UTF8.self)
    func values(_ key: String) -> [Double] {
      text.split(separator: "\n").filter { $0.contains("lavfi.r128.\(key)") }
        .compactMap { $0.split(separator: "=").last.flatMap { Double($0) } }
    }
    let peak = try #require(values("true_peaks_ch").max())
    return (try #require(values("I=").last), 20 * log10(peak))
  }

  @Test("have the same bytes however the sound is cut, and the same Ogg serial", arguments: specs)
  func deterministic(spec: ExportSpec) throws {
    let sound = Sound(frames: 70_000)
    let (first, second) = (scratch.file("first"), scratch.file("second"))
    try sound.encode(as: spec, to: first, pool: pool, blockSize: 997)
    try sound.encode(as: spec, to: second, pool: pool)
    #expect(try bytes(of: first) == bytes(of: second))
  }

  @Test("tell of more channels than MP3 has")
  func channels() throws {
    #expect(throws: SpoolError.self) {
      try Sound(channels: 6, frames: 5000).encode(
        as: .mp3(bitRate: 128_000, quality: nil), to: scratch.file("export"), pool: pool)
    }
    for spec in [ExportSpec.opus(bitRate: 384_000), .vorbis(quality: 5)] {
      let path = scratch.file("export")
      try Sound(channels: 6, frames: 50_000).encode(as: spec, to: path, pool: pool)
      #expect(try FFmpeg.decode(path).count == 6 * 50_000)
    }
  }

  @Test("are MP3 with ID3v2.4 in front of the encoded bytes")
  func identified() throws {
    let spec = ExportSpec.mp3(bitRate: 128_000, quality: nil)
    let (plain, tagged) = (scratch.file("plain"), scratch.file("tagged"))
    try Sound(frames: 50_000).encode(as: spec, to: plain, pool: pool)
    try spec.copy(from: plain, to: tagged, tags: ["title": "Überfahrt"])
    let (before, after) = (try bytes(of: plain), try bytes(of: tagged))
    #expect(before.first == 0xff)
    #expect(before.range(of: Data("Info".utf8)) != nil)
    #expect(after.starts(with: Data("ID3\u{4}\u{0}".utf8)))
    #expect(after.suffix(before.count) == before)
    #expect(after.count < before.count + 200)
  }
}
