import Audio
import Foundation
@testable import Media
import Platform

/// Sound in memory, planar, to be encoded.
struct Sound {
  let format: AudioFormat
  let channels: [[Float]]

  /// Drifting tones with a little noise and sudden bursts, on the grid of `bits`; always the same.
  init(
    channels count: Int = 2, rate: Int = 48000, frames: Int, bits: Int = 16,
    positions: ChannelPositions? = nil
  ) {
    format = AudioFormat(
      sampleRate: Hertz(Double(rate)), channelCount: count, positions: positions)
    let scale = Float(1 << (bits - 1))
    channels = (0..<count).map { channel in
      var seed = UInt32(channel + 1)
      return (0..<frames).map { frame in
        seed = seed &* 1_664_525 &+ 1_013_904_223
        let noise = Float(Int32(bitPattern: seed)) * 0x1p-31
        let time = Float(frame) / Float(rate)
        let burst: Float = frame % 20_011 < 300 ? 0.4 : 0.02
        let value = 0.4 * sin(2 * .pi * Float(220 * (channel + 1)) * time + sin(2 * time))
        return ((value + burst * noise) * scale).rounded() / scale
      }
    }
  }

  /// White noise, always the same, at full scale of `bits`, of which the lowest `emptyBits` are zero;
  /// it swells from half of that. The last `silentChannels` are silent.
  init(
    noiseIn count: Int, rate: Int, frames: Int, bits: Int, emptyBits: Int = 0,
    silentChannels: Int = 0
  ) {
    format = AudioFormat(sampleRate: Hertz(Double(rate)), channelCount: count)
    let scale = Float(1 << (bits - 1 - emptyBits))
    channels = (0..<count).map { channel in
      var seed = UInt32(channel + 1)
      let isSilent = channel >= count - silentChannels
      return (0..<frames).map { frame in
        seed = seed &* 1_664_525 &+ 1_013_904_223
        let noise = isSilent ? 0 : Float(Int32(bitPattern: seed) >> 8) * 0x1p-23
        let loudness = min(1, 0.5 + Float(frame) / Float(frames))
        return (noise * loudness * scale).rounded(.down) / scale
      }
    }
  }

  /// Stereo tones that are plucked twice a second and die away, over a little noise, at 48 kHz.
  init(pluckedFor frames: Int) {
    format = AudioFormat(sampleRate: Hertz(48000), channelCount: 2)
    channels = (0..<2).map { channel in
      var seed = UInt32(channel + 1)
      return (0..<frames).map { frame in
        seed = seed &* 1_664_525 &+ 1_013_904_223
        let noise = 0.01 * Float(Int32(bitPattern: seed)) * 0x1p-31
        let time = Double(frame) / 48000
        func tone(_ frequency: Double, every period: Double) -> Float {
          let since = time.truncatingRemainder(dividingBy: period)
          return Float(
            sin(2 * .pi * (frequency + Double(channel)) * time) * exp(-2 * since / period))
        }
        let swell = Float(1 + sin(.pi * time / 3))
        return 0.2 * tone(220, every: 0.5) + 0.15 * swell * Float(sin(2 * .pi * 330.3 * time))
          + 0.1 * tone(1318, every: 0.33) + noise
      }
    }
  }

  /// Its first frames.
  func prefix(_ count: Int) -> Sound {
    Sound(format: format, channels: channels.map { Array($0.prefix(count)) })
  }

  init(format: AudioFormat, channels: [[Float]]) {
    self.format = format
    self.channels = channels
  }

  /// The samples, interleaved.
  var interleaved: [Float] {
    (0..<(channels.first?.count ?? 0)).flatMap { frame in channels.map { $0[frame] } }
  }

  /// The sound cut into blocks.
  func blocks(of size: Int) -> [SharedBuffer] {
    let count = channels.first?.count ?? 0
    return stride(from: 0, to: count, by: size).map { start in
      let end = min(start + size, count)
      var buffer = AudioBuffer(channelCount: channels.count, capacity: Frames(end - start))
      buffer.frameCount = Frames(end - start)
      for (index, channel) in channels.enumerated() {
        var target = buffer.mutableChannel(index)
        for frame in start..<end { target[frame - start] = channel[frame] }
      }
      return SharedBuffer(buffer)
    }
  }

  /// An encoder for it; `plan` nil cuts it as Spool does.
  func encoder(
    as spec: ExportSpec, to path: String, pool: WorkerPool, plan: ChunkPlan? = nil,
    work: EncodingWork? = nil
  ) throws -> SoundFileEncoder {
    guard let plan else {
      return try SoundFileEncoder(path: path, spec: spec, format: format, pool: pool, work: work)
    }
    return try SoundFileEncoder(
      path: path, settings: EncoderSettings(spec, for: format), format: format, pool: pool,
      plan: plan, work: work)
  }

  /// Encodes it; `plan` nil cuts it as Spool does.
  func encode(
    as spec: ExportSpec, to path: String, pool: WorkerPool, blockSize: Int = 5000,
    plan: ChunkPlan? = nil
  ) throws {
    let encoder = try encoder(as: spec, to: path, pool: pool, plan: plan)
    for block in blocks(of: blockSize) { try encoder.write(block) }
    try encoder.finish()
  }
}

/// The signal-to-noise ratio in dB of `sound` against `reference` within a range of samples.
func signalToNoise(_ reference: [Float], _ sound: [Float], in range: Range<Int>) -> Double {
  var signal = 0.0
  var noise = 1e-20
  for index in range {
    signal += Double(reference[index]) * Double(reference[index])
    let difference = Double(reference[index]) - Double(sound[index])
    noise += difference * difference
  }
  return 10 * log10(signal / noise)
}

/// A file's bytes.
func bytes(of path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
