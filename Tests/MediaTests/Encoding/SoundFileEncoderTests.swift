import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite(
  "A sound file encoder", .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct SoundFileEncoderTests {
  let scratch: ScratchFolder
  let pool = WorkerPool(threadCount: 2)

  init() throws { scratch = try ScratchFolder() }

  @Test("writes FLAC at a whole divisor of a rate that FLAC does not have")
  func highRates() throws {
    for (rate, expected) in [(655_340, 655_340), (705_600, 352_800), (1_411_200, 352_800)] {
      let source = AudioFormat(sampleRate: Hertz(Double(rate)), channelCount: 1)
      let settings = EncoderSettings(.flac(.bits24, level: 5), for: source)
      #expect(settings.format.sampleRate == Hertz(Double(expected)))
      _ = try EncoderContext(settings, path: scratch.file("a.flac"))
    }
  }

  /// A lossless export and the sound for it.
  struct Lossless: Sendable, CustomTestStringConvertible {
    let spec: ExportSpec
    var bits = 16
    var channels = 2
    var rate = 48000
    var frames = 30_001
    var testDescription: String { "\(spec), \(channels) channels at \(rate) Hz, \(frames) frames" }
  }

  @Test(
    "keeps every bit of lossless sound",
    arguments: [
      Lossless(spec: .wav(.integer(.bits16))),
      Lossless(spec: .wav(.integer(.bits24)), bits: 24, channels: 8),
      Lossless(spec: .wav(.float32), bits: 24, channels: 1, rate: 192_000),
      Lossless(spec: .flac(.bits16, level: 5), channels: 1, rate: 22050),
      Lossless(spec: .flac(.bits24, level: 8), bits: 24),
      Lossless(spec: .flac(.bits24, level: 0), bits: 24, channels: 8),
      Lossless(spec: .alac(.bits16), frames: 300_000),
      Lossless(spec: .alac(.bits24), bits: 24, rate: 96000, frames: 262_144),
      Lossless(spec: .alac(.bits16), channels: 8, rate: 44100),
      Lossless(spec: .alac(.bits16), channels: 1, rate: 8000, frames: 1),
    ])
  func lossless(_ export: Lossless) throws {
    let sound = Sound(
      channels: export.channels, rate: export.rate, frames: export.frames, bits: export.bits)
    let path = scratch.file("export")
    try sound.encode(as: export.spec, to: path, pool: pool)
    #expect(try FFmpeg.decode(path) == sound.interleaved)
    let description = try MediaProbe.describe(SourceFile(path))
    #expect(description.format.hasShape(of: sound.format))
    #expect(description.expectedFrames == Frames(export.frames))
  }

  @Test("writes the same ALAC as one serial encoder")
  func alacChunks() throws {
    let sound = Sound(frames: 600_000)
    let chunked = scratch.file("chunked")
    try sound.encode(as: .alac(.bits16), to: chunked, pool: pool)
    let serial = scratch.file("serial")
    let onePiece = ChunkPlan(
      frameSize: 4096, packetsPerChunk: 1_000_000, preRoll: 0, overlap: 0, delay: 0)
    try sound.encode(as: .alac(.bits16), to: serial, pool: pool, plan: onePiece)
    #expect(try bytes(of: chunked) == bytes(of: serial))
  }

  @Test(
    "gives AAC of the sound's own length",
    arguments: [1, 1023, 1024, 1025, 48000, 99_999, 200 * 1024, 200 * 1024 + 17 * 1024 + 1])
  func aacLength(frames: Int) throws {
    let sound = Sound(frames: frames)
    let path = scratch.file("a.m4a")
    try sound.encode(
      as: .aac(bitRate: 128_000), to: path, pool: pool, plan: .aac(packetsPerChunk: 100))
    // The program gives whole packets of 1024; the file itself says where in the last one the
    // sound ends.
    #expect(try FFmpeg.decode(path).count == (frames + 1023) / 1024 * 1024 * 2)
    #expect(try Decoding(of: path).frameCount == frames)
    #expect(try MediaProbe.describe(SourceFile(path)).expectedFrames == Frames(frames))
  }

  @Test("gives AAC that is as good at the seams of chunks as serial AAC is", arguments: [1, 2])
  func aacSeams(channels: Int) throws {
    let frames = 1_000_000
    let sound = Sound(channels: channels, frames: frames)
    let source = sound.interleaved
    let chunked = scratch.file("chunked.m4a")
    try sound.encode(
      as: .aac(bitRate: 128_000), to: chunked, pool: pool, plan: .aac(packetsPerChunk: 100))
    let wave = scratch.file("a.wav")
    try sound.encode(as: .wav(.integer(.bits16)), to: wave, pool: pool)
    let serial = scratch.file("serial.m4a")
    try FFmpeg.run(["-i", wave, "-c:a", "aac", "-b:a", "128k", serial])
    let ours = try FFmpeg.decode(chunked)
    let theirs = try FFmpeg.decode(serial)
    #expect(ours.count >= source.count)
    let all = 0..<source.count
    #expect(signalToNoise(source, ours, in: all) > signalToNoise(source, theirs, in: all) - 1)
    // A bad seam spoils one packet, so packets are looked at one by one.
    func packet(_ number: Int) -> Range<Int> {
      number * 1024 * channels..<(number + 1) * 1024 * channels
    }
    let worst = (0..<frames / 1024).map { signalToNoise(source, theirs, in: packet($0)) }.min() ?? 0
    for seam in stride(from: 100, to: frames / 1024 - 20, by: 100) {
      for number in seam - 3..<seam + 18 {
        #expect(signalToNoise(source, ours, in: packet(number)) > worst - 1)
      }
    }
  }

  @Test("gives AAC behind a seam that is no noisier than serial AAC, at its rate")
  func aacSettling() throws {
    // Bright tones that die away: a fresh encoder needs ten seconds to do them justice.
    let sound = Sound(pluckedFor: 1_200_000)
    let source = sound.interleaved
    let chunked = scratch.file("chunked.m4a")
    try sound.encode(
      as: .aac(bitRate: 128_000), to: chunked, pool: pool, plan: .aac(packetsPerChunk: 900))
    let serial = scratch.file("serial.m4a")
    try sound.encode(
      as: .aac(bitRate: 128_000), to: serial, pool: pool, plan: .aac(packetsPerChunk: 100_000))
    let behind = 900 * 1024 * 2..<1150 * 1024 * 2
    let ours = try signalToNoise(source, FFmpeg.decode(chunked), in: behind)
    let theirs = try signalToNoise(source, FFmpeg.decode(serial), in: behind)
    #expect(abs(ours - theirs) < 0.5)
    #expect(try abs(Double(bytes(of: chunked).count) / Double(bytes(of: serial).count) - 1) < 0.01)
  }

  @Test("gives AAC that is as good at the beginning as it goes on to be")
  func aacBeginning() throws {
    let sound = Sound(pluckedFor: 400_000)
    let settled = scratch.file("settled.m4a")
    try sound.encode(as: .aac(bitRate: 128_000), to: settled, pool: pool)
    var plan = ChunkPlan.aac
    plan.mirrored = 0
    let fresh = scratch.file("fresh.m4a")
    try sound.encode(as: .aac(bitRate: 128_000), to: fresh, pool: pool, plan: plan)
    let beginning = 0..<2 * 48000
    let source = sound.interleaved
    let ours = try signalToNoise(source, FFmpeg.decode(settled), in: beginning)
    let theirs = try signalToNoise(source, FFmpeg.decode(fresh), in: beginning)
    #expect(ours > theirs + 1)
    #expect(try FFmpeg.decode(settled).count == FFmpeg.decode(fresh).count)
  }

  @Test(
    "writes the same bytes however many threads there are and however the sound is cut",
    arguments: [
      ExportSpec.wav(.integer(.bits24)), .flac(.bits16, level: 5), .alac(.bits16),
      .aac(bitRate: 64_000),
    ])
  func deterministic(spec: ExportSpec) throws {
    let sound = Sound(frames: 300_000)
    let plan: ChunkPlan? = if case .aac = spec { .aac(packetsPerChunk: 70) } else { nil }
    let first = scratch.file("first")
    try sound.encode(as: spec, to: first, pool: pool, plan: plan)
    let second = scratch.file("second")
    try sound.encode(
      as: spec, to: second, pool: WorkerPool(threadCount: 5), blockSize: 777, plan: plan)
    #expect(try bytes(of: first) == bytes(of: second))
  }

  @Test("resamples to a rate that AAC has")
  func aacRate() throws {
    let sound = Sound(rate: 192_000, frames: 192_000)
    let path = scratch.file("a.m4a")
    try sound.encode(as: .aac(bitRate: 128_000), to: path, pool: pool)
    let description = try MediaProbe.describe(SourceFile(path))
    #expect(description.format.sampleRate == Hertz(96000))
    #expect(abs((description.expectedFrames ?? .zero).count - 96000) < 32)
  }

  @Test("encodes surround AAC in one piece")
  func surround() throws {
    let path = scratch.file("a.m4a")
    try Sound(channels: 6, frames: 96_000).encode(as: .aac(bitRate: 384_000), to: path, pool: pool)
    #expect(try FFmpeg.decode(path).count >= 96_000 * 6)
    #expect(try MediaProbe.describe(SourceFile(path)).expectedFrames == Frames(96_000))
  }

  @Test("refuses what a codec cannot take, with advice")
  func unsupported() throws {
    let sound = Sound(channels: 12, frames: 100)
    for spec in [ExportSpec.aac(bitRate: 128_000), .alac(.bits16), .flac(.bits16, level: 5)] {
      let error = #expect(throws: SpoolError.self) {
        try sound.encode(as: spec, to: scratch.file("a"), pool: pool)
      }
      #expect(error?.cause == .input)
      #expect(error?.advice != nil)
    }
  }

  @Test("says why a file cannot be written")
  func unwritable() throws {
    let sound = Sound(frames: 100_000)
    let missing = #expect(throws: SpoolError.self) {
      try sound.encode(as: .alac(.bits16), to: scratch.file("no/such/folder"), pool: pool)
    }
    #expect(missing?.cause == .environment)
    #expect(missing?.reason == "no such file or directory")
    for spec in [ExportSpec.wav(.float32), .alac(.bits16)] {
      let full = #expect(throws: SpoolError.self) {
        try sound.encode(as: spec, to: "/dev/full", pool: pool)
      }
      #expect(full?.cause == .fullDisk)
    }
  }
}
