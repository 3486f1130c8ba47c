import Audio
@testable import Media
import Platform
import TestSupport
import Testing

/// Tracks without positions were labelled as 5.1 or 7.1, so that the fourth was taken for low
/// frequencies and lost.
@Suite(
  "The channels of a file", .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct ChannelPositionTests {
  let scratch: ScratchFolder
  let pool = WorkerPool(threadCount: 2)

  init() throws { scratch = try ScratchFolder() }

  private func encode(
    _ count: Int, _ positions: ChannelPositions?, as spec: ExportSpec
  ) throws -> (sound: Sound, path: String) {
    let sound = Sound(channels: count, frames: 48_000, positions: positions)
    let path = scratch.file("export")
    try sound.encode(as: spec, to: path, pool: pool)
    return (sound, path)
  }

  @Test(
    "without positions are all there",
    arguments: [
      ExportSpec.wav(.integer(.bits16)), .wav(.integer(.bits24)), .wav(.float32),
      .flac(.bits24, level: 5), .alac(.bits24), .aac(bitRate: 512_000), .opus(bitRate: 768_000),
      .vorbis(quality: 6),
    ], 3...8)
  func complete(spec: ExportSpec, count: Int) throws {
    let format = Sound(channels: count, frames: 1).format
    let hasFixedPositions =
      switch spec {
      case .alac, .vorbis: true
      default: false
      }
    #expect(spec.channelsTakenForLow(of: format) == (hasFixedPositions && count > 5 ? [3] : []))
    guard spec.channelsTakenForLow(of: format).isEmpty else { return }
    let (sound, path) = try encode(count, nil, as: spec)
    let decoded = try Reference.floats(of: path)
    for channel in 0..<count {
      // Each channel has a tone of its own, in which it is like no other.
      let own = sound.channels[channel]
      let copy = stride(from: channel, to: decoded.count, by: count).map { decoded[$0] }
      func product(_ a: [Float], _ b: [Float]) -> Double {
        zip(a, b).reduce(0) { $0 + Double($1.0 * $1.1) }
      }
      let likeness =
        product(own, copy) / (product(own, own) * product(copy, copy)).squareRoot()
      #expect(likeness > 0.95, "channel \(channel + 1) of \(count): \(likeness)")
      #expect(abs(product(copy, copy) / product(own, own) - 1) < 0.2)
    }
    let found = try SoundDecoder(SourceFile(path)).format
    switch spec {
    case .wav, .flac, .opus: #expect(found.positions == .unknown)
    default: #expect(found.positions.lowFrequencyChannels.isEmpty)
    }
    #expect(try MediaProbe.describe(SourceFile(path)).format == found)
  }

  @Test(
    "keep their positions",
    arguments: [
      ExportSpec.wav(.integer(.bits16)), .wav(.float32), .flac(.bits16, level: 5),
    ], [0x2, 0x33, 0x107, 0x105, 0x37, 0x607, 0x3F, 0x60F, 0x63F, 0xFF])
  func kept(spec: ExportSpec, mask: UInt64) throws {
    let positions = ChannelPositions(rawValue: mask)
    let (sound, path) = try encode(mask.nonzeroBitCount, positions, as: spec)
    #expect(sound.format.positions == positions)
    #expect(spec.strangePositions(of: sound.format) == nil)
    #expect(try SoundDecoder(SourceFile(path)).format.positions == positions)
    #expect(try MediaProbe.describe(SourceFile(path)).format.positions == positions)
    // So they do in a copy with tags.
    let copy = scratch.file("copy")
    _ = try spec.copy(from: path, to: copy, tags: ["title": "Take"])
    #expect(try SoundDecoder(SourceFile(copy)).format.positions == positions)
    #expect(try Reference.floats(of: copy) == Reference.floats(of: path))
  }

  @Test(
    "keep those of quad and 5.1",
    arguments: [
      ExportSpec.aac(bitRate: 256_000), .opus(bitRate: 256_000), .vorbis(quality: 5),
    ], [0x33, 0x3F, 0x63F])
  func lossy(spec: ExportSpec, mask: UInt64) throws {
    let positions = ChannelPositions(rawValue: mask)
    let (sound, path) = try encode(mask.nonzeroBitCount, positions, as: spec)
    #expect(spec.strangePositions(of: sound.format) == nil)
    #expect(spec.channelsTakenForLow(of: sound.format).isEmpty)
    let found = try SoundDecoder(SourceFile(path)).format.positions
    #expect(found.withBackSurrounds == positions)
  }

  @Test("without positions are all in a mix", arguments: 3...8, [1, 2])
  func mixed(count: Int, target: Int) throws {
    for spec in [ExportSpec.wav(.float32), .flac(.bits24, level: 5)] {
      let (_, path) = try encode(count, nil, as: spec)
      let mix = try Decoding(of: path, options: DecoderOptions(channelCount: target))
      #expect(mix.format.positions == .assumed(of: target))
      for channel in 0..<count {
        // The tone of the channel, which drifts a little.
        let own = Sound(channels: count, frames: 48_000).channels[channel]
        let sum = own.indices.reduce(0.0) { sum, frame in
          let given = (0..<target).reduce(Float(0)) { $0 + mix.samples[frame * target + $1] }
          return sum + Double(own[frame] * given)
        }
        let power = own.reduce(0.0) { $0 + Double($1 * $1) }
        #expect(sum / power > 0.05, "channel \(channel + 1) of \(count)")
      }
    }
  }
}
