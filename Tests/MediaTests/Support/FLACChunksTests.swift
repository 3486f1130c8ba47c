import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("FLAC in chunks")
struct FLACChunksTests {
  let scratch: ScratchFolder
  let pool = WorkerPool(threadCount: 2)

  init() throws { scratch = try ScratchFolder() }

  /// Sound and a way to encode it.
  struct Case: Sendable, CustomTestStringConvertible {
    var depth = Quantizer.Depth.bits16
    var level = 5
    var channels = 2
    var rate = 8000
    var testDescription: String { "\(depth), level \(level), \(channels) channels, \(rate) Hz" }
    var spec: ExportSpec { .flac(depth, level: level) }

    /// Every depth, number of channels and kind of level.
    static let all = [Quantizer.Depth.bits16, .bits24].flatMap { depth in
      [1, 2, 8].flatMap { channels in
        [0, 5, 8, 12].map { Case(depth: depth, level: $0, channels: channels) }
      }
    }

    /// Rates that stand behind the frame's number, in one byte and in two, and some that do not.
    static let rates = [11_111, 12_340, 23_000, 44_100, 48_000, 96_000, 192_000].map {
      Case(rate: $0)
    }
  }

  @Test(
    "has the bytes that one encoder gives, whatever the length", arguments: Case.all + Case.rates)
  func identical(_ export: Case) throws {
    let format = AudioFormat(
      sampleRate: Hertz(Double(export.rate)), channelCount: export.channels)
    let frameSize = try EncoderContext(
      EncoderSettings(export.spec, for: format), path: scratch.path
    ).frameSize
    let plan = ChunkPlan.flac(frameSize: frameSize, packetsPerChunk: 5)
    let chunk = 5 * frameSize
    // Frames 127, 128 and 129 are near the end of the longest.
    let lengths = [
      0, 1, frameSize - 1, frameSize, frameSize + 1, chunk - 1, chunk, chunk + 1,
      2 * chunk - frameSize, 130 * frameSize + 77,
    ]
    let whole = Sound(
      channels: export.channels, rate: export.rate, frames: lengths.max() ?? 0,
      bits: export.depth.rawValue)
    for length in lengths {
      let sound = whole.prefix(length)
      try expectIdentical(sound, export.spec, plan: plan, "\(length) frames")
      if length > 0 {
        #expect(try FFmpeg.decode(scratch.file("chunked")) == sound.interleaved)
        try expectAccepted(scratch.file("chunked"))
      }
    }
  }

  @Test("has the bytes that one encoder gives though the frame's number grows to three bytes")
  func manyFrames() throws {
    let sound = Sound(channels: 1, rate: 8000, frames: 2_060 * 192)
    let spec = ExportSpec.flac(.bits16, level: 0)
    try expectIdentical(sound, spec, plan: nil, "as Spool cuts it")
    try expectIdentical(
      sound, spec, plan: .flac(frameSize: 192, packetsPerChunk: 100), "in many chunks")
    try expectAccepted(scratch.file("chunked"))
  }

  @Test("is cut into chunks of some seconds", arguments: [0, 5, 12])
  func usualChunks(level: Int) throws {
    let sound = Sound(frames: 600_000)
    let spec = ExportSpec.flac(.bits16, level: level)
    let plan = try #require(
      try SoundFileEncoder.plan(spec, sound.format, path: scratch.path))
    #expect((4...6).contains(plan.packetsPerChunk * plan.frameSize / 48000))
    try expectIdentical(sound, spec, plan: nil, "level \(level)")
  }

  /// Noise that is stored as plain samples where a frame would become too large, which it does for
  /// some frames only with the number that they have in the stream.
  @Test(
    "has the bytes that one encoder gives for noise that cannot be made smaller",
    arguments: [
      Noise(), Noise(channels: 2), Noise(channels: 3), Noise(channels: 8), Noise(emptyBits: 3),
      Noise(channels: 2, level: 8), Noise(channels: 2, level: 8, isOneSilent: true),
      Noise(channels: 3, isOneSilent: true), Noise(depth: .bits24),
      Noise(depth: .bits24, channels: 2),
      Noise(depth: .bits24, channels: 2, level: 8, emptyBits: 5),
    ])
  func noise(_ noise: Noise) throws {
    let sound = noise.sound
    let spec = ExportSpec.flac(noise.depth, level: noise.level)
    let frameSize = noise.level == 0 ? 192 : 576
    try expectIdentical(sound, spec, plan: .flac(frameSize: frameSize, packetsPerChunk: 7), "noise")
    #expect(try FFmpeg.decode(scratch.file("chunked")) == sound.interleaved)
    try expectAccepted(scratch.file("chunked"))
  }

  /// White noise, mostly at full scale and in part a little below.
  struct Noise: Sendable, CustomTestStringConvertible {
    var depth = Quantizer.Depth.bits16
    var channels = 1
    var level = 0
    var emptyBits = 0
    var isOneSilent = false
    var testDescription: String {
      "\(depth), \(channels) channels, level \(level), \(emptyBits) empty bits"
        + (isOneSilent ? ", one silent" : "")
    }

    var sound: Sound {
      Sound(
        noiseIn: channels, rate: 8000, frames: level == 0 ? 450_000 / channels : 150_000,
        bits: depth.rawValue, emptyBits: emptyBits, silentChannels: isOneSilent ? 1 : 0)
    }
  }

  /// Encodes a sound both ways, and compares the files.
  private func expectIdentical(
    _ sound: Sound, _ spec: ExportSpec, plan: ChunkPlan?, _ comment: Comment
  ) throws {
    try sound.encode(as: spec, to: scratch.file("chunked"), pool: pool, plan: plan)
    let serial = try SoundFileEncoder(
      path: scratch.file("serial"), settings: EncoderSettings(spec, for: sound.format),
      format: sound.format, pool: pool, plan: nil, work: nil)
    for block in sound.blocks(of: 7000) { try serial.write(block) }
    try serial.finish()
    #expect(
      try bytes(of: scratch.file("chunked")) == bytes(of: scratch.file("serial")), comment)
  }

  /// Lets the format's own program check the numbers, the checks and the MD5.
  private func expectAccepted(_ path: String) throws {
    guard let flac = Program(named: "flac") else { return }
    let result = try flac.run(["--test", "--silent", "--warnings-as-errors", path])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
  }

  @Test("goes on from the first missing chunk where the hash is further")
  func newerHash() throws {
    let sound = Interruption.flac.sound
    let plan = try #require(Interruption.flac.plan)
    let state = try Interruption.flac.abandon(
      sound, in: scratch.path, pool: pool, after: plan.input(of: 3).lowerBound)
    let hash = try #require(EncodingState(json: state)?.extent.hash)
    #expect(hash.frames > plan.input(of: 4).lowerBound)
    try FileManager.default.removeItem(atPath: scratch.file("work.index"))
    let second = try Interruption.flac.encoder(
      sound, in: scratch.path, pool: pool, resuming: state)
    #expect(second.progress().needsFrom == .zero)
    for block in sound.blocks(of: 4999) { try second.write(block) }
    try second.finish()
    #expect(
      try bytes(of: scratch.file("export"))
        == Interruption.flac.wholeFile(sound, in: scratch.path, pool: pool))
  }

  @Test("says that the sound is shorter than what was hashed, though no chunk was whole")
  func shorterThanHash() throws {
    let sound = Sound(frames: 30_000)
    let state = try Interruption.flac.abandon(sound, in: scratch.path, pool: pool, after: 0)
    let second = try Interruption.flac.encoder(
      sound, in: scratch.path, pool: pool, resuming: state)
    second.begin(at: .zero)
    try second.write(sound.blocks(of: 5000)[0])
    let error = #expect(throws: SpoolError.self) { try second.finish() }
    #expect(error?.reason?.contains("shorter") == true)
  }

  @Test("needs all the sound where the hash is not noted, and starts over where it is spoilt")
  func spoiltHash() throws {
    let sound = Interruption.flac.sound
    let noted = try Interruption.flac.abandon(
      sound, in: scratch.path, pool: pool, after: Interruption.flac.frames / 2)
    var state = try #require(EncodingState(json: noted))
    let hashed = try #require(state.extent.hash?.frames)
    let hash = "\"frames\":\(hashed)"
    #expect(noted.contains(hash))
    #expect(EncodingState(json: noted.replacing(hash, with: "\"frames\":-1")) == nil)
    #expect(EncodingState(json: noted.replacing("\"md5\":[", with: "\"md5\":[1,")) == nil)
    state.extent.hash = nil
    let second = try Interruption.flac.encoder(
      sound, in: scratch.path, pool: pool, resuming: state.json)
    #expect(second.progress().needsFrom == .zero)
    for block in sound.blocks(of: 16384) { try second.write(block) }
    try second.finish()
    #expect(
      try bytes(of: scratch.file("export"))
        == Interruption.flac.wholeFile(sound, in: scratch.path, pool: pool))
  }
}
