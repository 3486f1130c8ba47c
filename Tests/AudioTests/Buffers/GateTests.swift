import Audio
import Foundation
import TestSupport
import Testing

@Suite struct GateTests {
  private static let settings = Gate.Settings(
    threshold: Decibels(-30), attack: Seconds(0.005), hold: Seconds(0.02),
    release: Seconds(0.03), range: Decibels(-60))
  private static let rate = 48_000.0
  private let mono = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(rate), channelCount: 2)

  @Test func `keeps the promises of a processor`() throws {
    try checkProcessorConformance { Gate(Self.settings, format: $0) }
  }

  @Test func `steady sound below the threshold is turned down by the range`() {
    let sound = TestSound.square(half: 24, amplitude: 0.0316 * 0.99, mono, frames: 5000)
    let result = sound.processed(by: Gate(Self.settings, format: mono))
    #expect(abs(result[4000..<5000].peak.value - sound.peak.value + 60) < 0.1)
  }

  @Test func `an open gate changes no bit`() {
    let sound = TestSound.square(half: 24, amplitude: 0.0316 * 1.01, mono, frames: 9000)
    let result = sound.processed(by: Gate(Self.settings, format: mono))
    #expect(result[5000..<9000].isBitIdentical(to: sound[5000..<9000]))
  }

  @Test(arguments: [50, 61.7, 1000, 5000], [0, 0.005, 0.06])
  func `a tone whose crests reach the threshold opens it for good, any other closes it`(
    frequency: Double, hold: Double
  ) {
    var settings = Self.settings
    settings.hold = Seconds(hold)
    for (level, gain) in [(-29.9, 0.0), (-30.1, -60)] {
      let sound = TestSound.sine(
        Hertz(frequency), amplitude: pow(10, level / 20), mono, frames: 48_000)
      let result = sound.processed(by: Gate(settings, format: mono))
      let measured =
        result[38_400..<48_000].rms(ofChannel: 0).value
        - sound[38_400..<48_000].rms(ofChannel: 0).value
      #expect(abs(measured - gain) < 0.1)
    }
  }

  @Test func `opens and closes with its time constants, after the hold time`() {
    // Loud for 0.1 s, then just audible: the gain is the ratio of output and input.
    let loudEnd = 4800
    let sound = TestSound(mono, frames: 20_000) { _, frame in frame < loudEnd ? 0.5 : 0.01 }
    let result = sound.processed(by: Gate(Self.settings, format: mono))
    let gains = zip(result.channels[0], sound.channels[0]).map { Double($0 / $1) }
    let way = 1 - 0.001

    let attack = gains.firstIndex { $0 >= 0.001 + way * (1 - exp(-1)) } ?? 0
    #expect(abs(Double(attack) / Self.rate / 0.005 - 1) < 0.05)

    let held = gains[4000...].firstIndex { $0 < 1 } ?? 0
    #expect(held == loudEnd + Int(0.02 * Self.rate))

    let release = gains[held...].firstIndex { $0 <= 1 - way * (1 - exp(-1)) } ?? 0
    #expect(abs(Double(release - held) / Self.rate / 0.03 - 1) < 0.05)
  }

  @Test func `one loud channel opens all`() {
    let sound = TestSound(stereo, frames: 6000) { channel, _ in channel == 0 ? 0.5 : 0.001 }
    let result = sound.processed(by: Gate(Self.settings, format: stereo))
    #expect(result.channels[1][5999] == 0.001)
  }

  @Test(arguments: [0, 0.001, 0.06])
  func `whole groups are treated as frame by frame`(hold: Double) {
    var settings = Self.settings
    settings.hold = Seconds(hold)
    let sound = TestSound.babble(stereo, frames: 40_000)
    let result = sound.processed(by: Gate(settings, format: stereo))
    // The definition, in the plainest words.
    let threshold = Float(pow(10, -30.0 / 20))
    let holdFrames = Int((max(hold, 0.01) * Self.rate).rounded())
    var (gain, last) = (0.001, -1_000_000)
    var expected = sound
    for frame in 0..<sound.frameCount.count {
      if sound.channels.contains(where: { abs($0[frame]) >= threshold }) { last = frame }
      let goal = frame - last <= holdFrames ? 1 : 0.001
      let time = goal == 1 ? 0.005 : 0.03
      gain += (goal - gain) * (1 - exp(-1 / (time * Self.rate)))
      for channel in 0...1 { expected.channels[channel][frame] *= Float(gain) }
    }
    #expect(result.greatestDifference(from: expected) < 3e-6)
  }

  @Test func `absurd settings are taken to the nearest sense`() {
    let settings = Gate.Settings(
      threshold: Decibels(1e9), attack: Seconds(-1), hold: Seconds(1e30), release: Seconds(0),
      range: Decibels(1e9))
    let sound = TestSound.noise(stereo, frames: 500)
    #expect(sound.processed(by: Gate(settings, format: stereo)).isBitIdentical(to: sound))
  }
}
