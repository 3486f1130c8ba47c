import Audio
@testable import Media
import Platform
import TestSupport
import Testing

@Suite(
  "An Apple Lossless packet",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct ALACFrameTests {
  let scratch: ScratchFolder
  let pool = WorkerPool(threadCount: 2)

  init() throws { scratch = try ScratchFolder() }

  /// Sound that takes an encoder to its limits.
  enum Material: CaseIterable {
    case silence, oneLevel, tones, noise, square, clicks, risingRuns, opposite, leftAlone

    /// A sample at full scale 1.
    func value(_ frame: Int, _ channel: Int, seed: inout UInt32) -> Float {
      seed = seed &* 1_664_525 &+ 1_013_904_223
      let noise = Float(Int32(bitPattern: seed)) * 0x1p-31
      let tone = Float(frame % 377) / 377 - 0.5
      return switch self {
      case .silence: 0
      case .oneLevel: -1
      case .tones: 0.9 * tone + 0.001 * noise
      case .noise: noise
      case .square: frame / 50 % 2 == channel % 2 ? 1 : -1
      case .clicks: frame % 997 == 13 * channel ? 1 : 0
      // Zeros of every length, and steps that grow from the smallest to the greatest.
      case .risingRuns: frame % (2 + frame / 512) == 0 ? noise * Float(frame % 4096) / 4096 : 0
      case .opposite: (channel == 0 ? 1 : -1) * (frame % 2 == 0 ? 1 : -0.999)
      case .leftAlone: channel == 0 ? tone : 0
      }
    }
  }

  @Test(
    "comes back bit for bit from another decoder", arguments: Material.allCases, [16, 24])
  func lossless(_ material: Material, bits: Int) throws {
    for channels in [1, 2] {
      let sound = sound(material, channels: channels, bits: bits, frames: 2 * 4096 + 777)
      #expect(try decoded(sound, bits) == sound.interleaved, "\(channels) channels")
    }
  }

  @Test("may be as short as it likes", arguments: [1, 2, 3, 4, 5, 6, 7, 4095, 4096, 4097])
  func short(frames: Int) throws {
    let sound = sound(.tones, channels: 2, bits: 24, frames: frames)
    #expect(try decoded(sound, 24) == sound.interleaved)
  }

  @Test("is never longer than its samples and a head", arguments: [16, 24])
  func noiseIsPlain(bits: Int) {
    var frame = ALACFrame(channelCount: 2, bits: bits)
    let block = sound(.noise, channels: 2, bits: bits, frames: 4096).blocks(of: 4096)[0]
    #expect(frame.packet(of: block.buffer).count == (23 + 4096 * 2 * bits + 3 + 7) / 8)
  }

  @Test("does not depend on those before it")
  func independent() {
    let sound = Sound(frames: 3 * 4096, bits: 24)
    let blocks = sound.blocks(of: 4096)
    var used = ALACFrame(channelCount: 2, bits: 24)
    for block in blocks {
      var fresh = ALACFrame(channelCount: 2, bits: 24)
      #expect(used.packet(of: block.buffer) == fresh.packet(of: block.buffer))
    }
  }

  @Test("is hardly longer than libavcodec's", arguments: [1, 2])
  func size(channels: Int) throws {
    let sound = Sound(channels: channels, frames: 400_000, bits: 24)
    let ours = scratch.file("ours.m4a")
    try sound.encode(as: .alac(.bits24), to: ours, pool: pool)
    let wave = scratch.file("a.wav")
    try sound.encode(as: .wav(.integer(.bits24)), to: wave, pool: pool)
    let theirs = scratch.file("theirs.m4a")
    try FFmpeg.run(["-i", wave, "-c:a", "alac", "-sample_fmt", "s32p", theirs])
    let ratio = try Double(bytes(of: ours).count) / Double(bytes(of: theirs).count)
    #expect(ratio < 1.02)
  }

  private func sound(_ material: Material, channels: Int, bits: Int, frames: Int) -> Sound {
    let scale = Float(1 << (bits - 1))
    return Sound(
      format: AudioFormat(sampleRate: Hertz(48000), channelCount: channels),
      channels: (0..<channels).map { channel in
        var seed = UInt32(channel + 1)
        return (0..<frames).map { frame in
          let value = (material.value(frame, channel, seed: &seed) * scale).rounded(.down)
          return max(-scale, min(value, scale - 1)) / scale
        }
      })
  }

  private func decoded(_ sound: Sound, _ bits: Int) throws -> [Float] {
    let path = scratch.file("a.m4a")
    try sound.encode(as: .alac(bits == 16 ? .bits16 : .bits24), to: path, pool: pool)
    return try FFmpeg.decode(path)
  }
}
