import Audio
import Foundation
import TestSupport
import Testing

/// What tracks add up to, sample by sample.
@Suite struct MixSumTests {
  private let bench: MixBench
  private let mono = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  init() throws { bench = try MixBench() }

  @Test func `a track and its inverse are silence to the last bit`() throws {
    let sound = TestSound.babble(stereo, frames: 40_000)
    let settings = "tracks: [{ volume: 0.77, pan: 0.3 }, { volume: 0.77, pan: 0.3 }]"
    let sum = try bench.mix([sound, sound.map { -$0 }], settings)
    #expect(sum.frameCount.count == 40_000)
    #expect(sum.peakAmplitude == 0)
    #expect(
      try bench.mix([sound], settings.replacing(", { volume: 0.77, pan: 0.3 }", with: ""))
        .peakAmplitude > 0.1)
  }

  @Test func `faders, gains, pans and the master multiply`() throws {
    let one = TestSound.noise(seed: 1, mono, frames: 20_000)
    let two = TestSound.noise(seed: 2, stereo, frames: 20_000)
    let sum = try bench.mix(
      [one, two],
      """
      master-volume: 0.5, pan-law: -6 dB,
      tracks: [{ volume: 1.5, pan: 0.5 }, { gain: -6 dB, pan: -0.25 }]
      """)
    let quieter = pow(10, -6.0 / 20)
    for frame in stride(from: 0, to: 20_000, by: 7) {
      let left =
        0.5
        * (1.5 * 0.25 * Double(one.channels[0][frame])
          + quieter * Double(two.channels[0][frame]))
      let right =
        0.5
        * (1.5 * 0.75 * Double(one.channels[0][frame])
          + quieter * 0.75 * Double(two.channels[1][frame]))
      #expect(abs(Double(sum.channels[0][frame]) - left) < 1e-7)
      #expect(abs(Double(sum.channels[1][frame]) - right) < 1e-7)
    }
  }

  @Test func `a mono mix takes mono tracks whole and the mean of stereo tracks`() throws {
    let one = TestSound.noise(amplitude: 0.4, seed: 1, mono, frames: 500)
    let two = TestSound.noise(amplitude: 0.4, seed: 2, stereo, frames: 500)
    let sum = try bench.mix([one, two], "channels: 1, tracks: [{ pan: 1 }, { pan: -1 }]")
    #expect(sum.format.channelCount == 1)
    for frame in 0..<500 {
      let expected = one.channels[0][frame] + (two.channels[0][frame] + two.channels[1][frame]) / 2
      #expect(abs(sum.channels[0][frame] - expected) < 1e-6)
    }
  }

  @Test(.enabled(if: SoundFacts.areAvailable, "the ffmpeg program is not installed"))
  func `agrees with ffmpeg over rates, channels, lengths, offsets and gains`() throws {
    let paths = try bench.files([
      TestSound.babble(amplitude: 0.3, seed: 1, stereo, frames: 70_000),
      TestSound.babble(
        amplitude: 0.3, seed: 2, AudioFormat(sampleRate: Hertz(44_100), channelCount: 1),
        frames: 50_000),
      TestSound.babble(
        amplitude: 0.3, seed: 3, AudioFormat(sampleRate: Hertz(22_050), channelCount: 2),
        frames: 40_000),
    ])
    let sum = try bench.mix(
      files: paths,
      """
      tracks: [{ volume: 0.9 }, { volume: 0.5, pan: -1, offset: 0.25 s },
        { gain: 3 dB, pan: 1, offset: 3000 samples }]
      """)
    let output = try Reference.ffmpeg(
      paths.flatMap { ["-i", $0] } + [
        "-filter_complex",
        """
        [0]volume=0.9[a];\
        [1]aresample=48000,volume=0.5,pan=stereo|c0=c0|c1=0*c0,adelay=12000S:all=1[b];\
        [2]aresample=48000,volume=3dB,pan=stereo|c0=0*c0|c1=c1,adelay=3000S:all=1[c];\
        [a][b][c]amix=inputs=3:normalize=0:duration=longest
        """, "-f", "f32le", "-",
      ])
    let expected = TestSound(rawFloats: output, sampleRate: Hertz(48_000), channelCount: 2)
    #expect(abs(sum.frameCount.count - expected.frameCount.count) <= 64)
    let common = 0..<min(sum.frameCount.count, expected.frameCount.count)
    #expect(sum[common].greatestDifference(from: expected[common]) < 1e-5)
    #expect(sum.peakAmplitude > 0.3)
  }
}
