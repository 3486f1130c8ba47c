import Audio
@testable import Media
import Platform
import TestSupport
import Testing

/// Surround sound with a single frame in its last packet: libavcodec's encoder ended the process.
@Suite(
  "An Apple Lossless packet of one surround frame",
  .enabled(if: FFmpeg.isInstalled, "the ffmpeg program is not installed"))
struct ALACLoneFrameTests {
  let scratch: ScratchFolder

  init() throws { scratch = try ScratchFolder() }

  @Test("comes back bit for bit from another decoder", arguments: 3...8, [1, 4097])
  func lossless(channels: Int, frames: Int) throws {
    for depth in [Quantizer.Depth.bits16, .bits24] {
      let scale = Float(1 << (depth.rawValue - 1))
      let format = AudioFormat(sampleRate: Hertz(44_100), channelCount: channels)
      // Every channel has other samples, on the grid.
      let sound = TestSound(format, frames: frames) { channel, frame in
        Float((channel + 1) * 1000 - frame * 3 - 2000) / scale
      }
      let path = scratch.file("\(channels)-\(frames)-\(depth.rawValue).m4a")
      let encoder = try SoundFileEncoder(
        path: path, spec: .alac(depth), format: format, pool: WorkerPool(threadCount: 2))
      for start in stride(from: 0, to: frames, by: 1000) {
        try encoder.write(SharedBuffer(sound.buffer(start..<min(start + 1000, frames))))
      }
      try encoder.finish()
      let decoded = try Reference.floats(of: path)
      #expect(decoded == sound.interleaved, "\(channels) channels, \(depth.rawValue) bits")
    }
  }
}
