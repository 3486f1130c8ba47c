import Audio
import Foundation
@testable import Media
import Platform
import Synchronization
import Testing

/// A format, the sound for it, and how to encode it so that there is something to interrupt.
struct Interruption: Sendable, CustomTestStringConvertible {
  let spec: ExportSpec
  var channels = 2
  var rate = 48000
  var frames = 800_001
  var plan: ChunkPlan?
  var options: [String: String] = [:]
  /// Whether the next process goes on, or starts over.
  var isResumable = true

  var testDescription: String {
    "\(spec), \(channels) channels at \(rate) Hz" + (options.isEmpty ? "" : ", \(options)")
  }

  static let wave = Interruption(spec: .wav(.integer(.bits16)))
  static let alac = Interruption(spec: .alac(.bits16), plan: shortALAC)
  static let aac = Interruption(
    spec: .aac(bitRate: 128_000), frames: 700_001, plan: shortAAC)
  static let flac = Interruption(spec: .flac(.bits16, level: 5), plan: shortFLAC)

  /// One for each way of going on.
  static let resumable = [wave, alac, aac, flac]

  /// Every format in every way of encoding it.
  static let all = [
    wave, alac, aac, flac,
    Interruption(spec: .wav(.integer(.bits24)), channels: 1, rate: 44100),
    Interruption(spec: .wav(.float32), channels: 3),
    Interruption(spec: .wav(.float32), options: ["rf64": "always"]),
    Interruption(spec: .alac(.bits24), channels: 6, rate: 96000, plan: shortALAC),
    Interruption(spec: .alac(.bits24), channels: 1, frames: 1_700_000),
    Interruption(spec: .aac(bitRate: 64_000), channels: 1, frames: 700_001, plan: shortAAC),
    Interruption(spec: .aac(bitRate: 128_000), rate: 192_000, frames: 700_001, plan: shortAAC),
    Interruption(spec: .aac(bitRate: 384_000), channels: 6, frames: 60_000, isResumable: false),
    Interruption(spec: .mp3(bitRate: 128_000, quality: nil), frames: 60_000, isResumable: false),
    Interruption(spec: .opus(bitRate: 96_000), rate: 44100, frames: 60_000, isResumable: false),
    Interruption(spec: .vorbis(quality: 5), frames: 60_000, isResumable: false),
    Interruption(spec: .flac(.bits24, level: 8), channels: 6, rate: 96000, plan: shortFLAC),
    Interruption(spec: .flac(.bits24, level: 0), channels: 1, frames: 3_000_000),
  ]

  // Chunks that tests need not wait for long.
  private static let shortAAC = ChunkPlan.aac(packetsPerChunk: 150)
  private static let shortFLAC = ChunkPlan.flac(frameSize: 4608, packetsPerChunk: 9)
  private static let shortALAC = ChunkPlan(
    frameSize: 4096, packetsPerChunk: 9, preRoll: 0, overlap: 0, delay: 0)

  /// Whether the codec does not have the sound's rate.
  var isResampled: Bool {
    EncoderSettings(spec, for: sound.format).format.sampleRate != sound.format.sampleRate
  }

  /// The sound, which is made once for all tests that want it.
  var sound: Sound {
    Self.sounds.withLock { sounds in
      let key = "\(channels) \(rate) \(frames)"
      let sound = sounds[key] ?? Sound(channels: channels, rate: rate, frames: frames)
      sounds[key] = sound
      return sound
    }
  }

  private static let sounds = Mutex<[String: Sound]>([:])

  /// An encoder to the file `export` in a folder that also has its own files.
  func encoder(
    _ sound: Sound, in folder: String, pool: WorkerPool, resuming: String?, name: String = "work"
  ) throws -> SoundFileEncoder {
    try encoder(
      sound, to: folder + "/export", pool: pool,
      work: EncodingWork(folder: folder, name: name, resuming: resuming))
  }

  /// An encoder to a file.
  func encoder(
    _ sound: Sound, to path: String, pool: WorkerPool, work: EncodingWork?
  ) throws -> SoundFileEncoder {
    var settings = EncoderSettings(spec, for: sound.format)
    settings.muxerOptions.merge(options) { $1 }
    return try SoundFileEncoder(
      path: path, settings: settings, format: sound.format, pool: pool,
      plan: plan ?? SoundFileEncoder.plan(spec, sound.format, path: path), work: work)
  }

  /// Encodes all but the end of a sound in a folder, waits for progress up to a frame, and drops
  /// the encoder. Gives what it said last.
  func abandon(
    _ sound: Sound, in folder: String, pool: WorkerPool, after frame: Int
  ) throws -> String {
    let encoder = try encoder(sound, in: folder, pool: pool, resuming: nil)
    for block in sound.blocks(of: 16384).dropLast() { try encoder.write(block) }
    try encoder.waitForProgress(to: frame)
    return encoder.progress().state
  }

  /// The bytes of a file that was never interrupted.
  func wholeFile(_ sound: Sound, in folder: String, pool: WorkerPool) throws -> Data {
    let path = folder + "/whole"
    let encoder = try encoder(sound, to: path, pool: pool, work: nil)
    for block in sound.blocks(of: 5000) { try encoder.write(block) }
    try encoder.finish()
    return try bytes(of: path)
  }
}

extension SoundFileEncoder {
  /// Encodes the blocks of a sound from the first one needed, as a resumed pass does, which starts
  /// at a block boundary. Unneeded frames before are silenced, to prove that they are not used.
  func takeRest(of sound: Sound, blockSize: Int) throws {
    let needed = progress().needsFrom.count
    let first = needed / blockSize * blockSize
    begin(at: Frames(first))
    for (index, block) in sound.blocks(of: blockSize).enumerated()
    where (index + 1) * blockSize > first {
      try write(block.silenced(before: needed - index * blockSize))
    }
  }

  /// Waits until so much is done that the next process needs the sound from `frame` on at most. As
  /// chunks are taken in turn while sound comes, up to four of them may not count.
  func waitForProgress(to frame: Int) throws {
    let deadline = Date(timeIntervalSinceNow: 60)
    while progress().needsFrom.count < frame {
      try #require(Date() < deadline, "no progress")
      usleep(1000)
    }
  }
}

extension SharedBuffer {
  /// The same block with silence in its first `count` frames.
  fileprivate func silenced(before count: Int) -> SharedBuffer {
    guard count > 0 else { return self }
    var copy = AudioBuffer(channelCount: buffer.channelCount, capacity: buffer.capacity)
    copy.copy(from: buffer, start: .zero, count: buffer.frameCount)
    for channel in 0..<copy.channelCount {
      var samples = copy.mutableChannel(channel)
      for frame in 0..<min(count, samples.count) { samples[frame] = 0 }
    }
    return SharedBuffer(copy)
  }
}
