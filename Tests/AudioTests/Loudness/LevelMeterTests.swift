import Audio
import Foundation
import TestSupport
import Testing

@Suite struct LevelMeterTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func levels(of sound: TestSound, cuts: [Int] = [4096]) -> Levels {
    let meter = LevelMeter(format: sound.format)
    sound.analysed(by: meter, cuts: cuts)
    return meter.finding()
  }

  /// EBU Tech 3341, test case 1: a tone of −23 dBFS in both channels is −23 LUFS.
  @Test func `a stereo tone of −23 dBFS has −23 LUFS`() throws {
    let sound = TestSound.sine(
      Hertz(1000), amplitude: pow(10, -23.0 / 20), stereo, frames: 96_000)
    let levels = levels(of: sound)
    #expect(abs(try #require(levels.integratedLoudness).value + 23) < 0.1)
    #expect(abs(try #require(levels.rms).value + 26.01) < 0.01)
    #expect(abs(try #require(levels.samplePeak).value + 23) < 0.01)
    #expect(levels.duration == Seconds(2))
  }

  /// EBU Tech 3341, test case 6: −28 dBFS left and right, −24 centre, −30 surrounds.
  @Test func `surround channels count as much as they should`() throws {
    let levels51: [Double?] = [-28, -28, -24, nil, -30, -30]
    let tone = TestSound.sine(
      Hertz(1000), AudioFormat(sampleRate: Hertz(48_000), channelCount: 1), frames: 96_000)
    let sound = TestSound(
      sampleRate: Hertz(48_000),
      channels: levels51.map { level in
        // The low-frequency channel does not count, however loud.
        let factor = Float(pow(10, (level ?? 0) / 20))
        return tone.channels[0].map { $0 * factor }
      }, positions: .mixed(to: 6))
    #expect(abs(try #require(levels(of: sound).integratedLoudness).value + 23) < 0.1)
    let meter = LoudnessMeter(format: sound.format)
    sound.analysed(by: meter)
    #expect(abs(try #require(meter.finding().integrated).value + 23) < 0.1)
  }

  @Test(.enabled(if: Program(named: "ffmpeg") != nil, "ffmpeg is not installed"))
  func `agrees with ffmpeg`() throws {
    // A loud and a quiet half, for a loudness range.
    var sound = TestSound.babble(stereo, frames: 48_000 * 8)
    for channel in 0...1 {
      for frame in 48_000 * 4..<48_000 * 8 { sound.channels[channel][frame] *= 0.25 }
    }
    let theirs = try #require(try sound.loudnessByFFmpeg())
    let ours = levels(of: sound)
    #expect(
      abs(try #require(ours.integratedLoudness).value - (try #require(theirs.integrated))) < 0.11)
    #expect(abs(try #require(ours.loudnessRange).value - (try #require(theirs.range))) < 0.3)
    #expect(abs(try #require(ours.truePeak).value - (try #require(theirs.truePeak))) < 0.2)
  }

  @Test func `counts samples in runs at full scale, not lone ones`() {
    var sound = TestSound.constant(0.1, stereo, frames: 5000)
    sound.channels[0][100] = 1
    for frame in 1022...1026 { sound.channels[0][frame] = -1 }
    for frame in 200...201 { sound.channels[1][frame] = 32767.0 / 32768 }
    sound.channels[1][4000] = 0.999
    sound.channels[1][4001] = 1
    #expect(levels(of: sound).clippedSamples == 7)
  }

  @Test func `gives the mean of each channel`() {
    let sound = TestSound(stereo, frames: 4801) { channel, frame in
      (channel == 0 ? 0.01 : -0.02) + (frame % 2 == 0 ? 0.1 : -0.1)
    }
    let offsets = levels(of: sound).offsets
    #expect(abs(offsets[0] - 0.01) < 1e-4 && abs(offsets[1] + 0.02) < 1e-4)
  }

  @Test func `does not depend on the cut of blocks`() {
    let sound = TestSound.babble(amplitude: 2, stereo, frames: 40_000)
    #expect(levels(of: sound) == levels(of: sound, cuts: [1, 333, 0, 5000, 64]))
  }

  @Test(arguments: [0, 1, 480, 30_000])
  func `silence of any length, and damaged sound, can be written as JSON`(frames: Int) throws {
    for value in [Float(0), .nan, .infinity] {
      let levels = levels(of: .constant(value, stereo, frames: frames))
      #expect(levels.integratedLoudness == nil && levels.truePeak == nil && levels.rms == nil)
      #expect(levels.frames == Frames(frames))
      let data = try JSONEncoder().encode(levels)
      #expect(try JSONDecoder().decode(Levels.self, from: data) == levels)
    }
  }

  @Test func `the short and the long meter agree`() throws {
    let sound = TestSound.babble(stereo, frames: 40_000)
    let meter = LoudnessMeter(format: stereo)
    sound.analysed(by: meter)
    let (short, long) = (meter.finding(), levels(of: sound))
    let difference =
      try #require(short.integrated).value - (try #require(long.integratedLoudness)).value
    #expect(abs(difference) < 1e-9)
    #expect(short.peaks.truePeak == long.truePeak)
    #expect(short.peaks.samplePeak == long.samplePeak)
  }
}
