import Audio
import Foundation
import TestSupport
import Testing

@Suite struct CompressorTests {
  private static let rate = 48_000.0
  private let mono = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(rate), channelCount: 2)
  private static let settings = Compressor.Settings(
    threshold: Decibels(-24), ratio: 4, knee: Decibels(6), attack: Seconds(0.008),
    release: Seconds(0.04))

  @Test func `keeps the promises of a processor`() throws {
    try checkProcessorConformance { Compressor(Self.settings, format: $0) }
    var slow = Self.settings
    (slow.attack, slow.release, slow.makeUp) = (Seconds(0.1), Seconds(0.001), Decibels(3))
    try checkProcessorConformance(channelCounts: 1...2) { Compressor(slow, format: $0) }
  }

  @Test(arguments: [1.5, 4, .infinity], [0, 6, 20.0])
  func `follows the static curve within 0.01 dB`(ratio: Double, knee: Double) {
    let settings = Compressor.Settings(
      threshold: Decibels(-24), ratio: ratio, knee: Decibels(knee), attack: Seconds(0.001),
      release: Seconds(0.001), makeUp: Decibels(2))
    for level in stride(from: -60.0, through: 6, by: 1.5) {
      let amplitude = Float(pow(10, level / 20))
      let sound = TestSound.square(half: 24, amplitude: amplitude, mono, frames: 1000)
      let result = sound.processed(by: Compressor(settings, format: mono))
      // Giannoulis et al., equation 4: the output level of the soft-kneed curve.
      let over = level + 24
      let expected =
        if 2 * over < -knee { level } else if 2 * abs(over) <= knee && knee > 0 {
          level + (1 / ratio - 1) * pow(over + knee / 2, 2) / (2 * knee)
        } else { -24 + over / ratio }
      #expect(abs(result[990..<1000].peak.value - expected - 2) < 0.01, "at \(level) dB")
    }
  }

  @Test(
    arguments: [50, 61.7, 100, 1000, 5000, 10_000, 17_321],
    [(0.005, 0.1), (0.02, 0.1), (0.1, 0.001)])
  func `a steady sine lies on the static curve within 0.02 dB`(
    frequency: Double, times: (attack: Double, release: Double)
  ) {
    let settings = Compressor.Settings(
      threshold: Decibels(-20), ratio: 4, knee: Decibels(6), attack: Seconds(times.attack),
      release: Seconds(times.release))
    // Below, within and above the knee.
    for (level, expected) in [(-30.0, -30.0), (-20, -20.5625), (-10, -17.5), (0, -15)] {
      let sound = TestSound.sine(
        Hertz(frequency), amplitude: pow(10, level / 20), mono, frames: 72_000)
      let result = sound.processed(by: Compressor(settings, format: mono))
      let reduction =
        sound[57_600..<72_000].rms(ofChannel: 0).value
        - result[57_600..<72_000].rms(ofChannel: 0).value
      #expect(abs(level - reduction - expected) < 0.02, "at \(level) dB")
    }
  }

  @Test func `channels that are half linked lie on the static curve of their crests`() {
    // A quarter of a period apart, so that one is silent where the other is loudest.
    let sound = TestSound(stereo, frames: 24_000) { channel, frame in
      let angle = 2 * Double.pi * 100 * Double(frame) / Self.rate
      return Float(channel == 0 ? 0.4 * sin(angle) : 0.02 * cos(angle))
    }
    var settings = Self.settings
    (settings.knee, settings.sidechain) = (Decibels(0), Sidechain(link: 0.5))
    let result = sound.processed(by: Compressor(settings, format: stereo))
    for (channel, level) in [0.4, 0.21].enumerated() {
      let gain =
        result[19_200..<24_000].rms(ofChannel: channel).value
        - sound[19_200..<24_000].rms(ofChannel: channel).value
      #expect(abs(gain + 0.75 * (20 * log10(level) + 24)) < 0.02)
    }
  }

  @Test(arguments: [(0.008, 0.04), (0.03, 0.01), (0.001, 0.2)])
  func `reacts with its time constants`(attack: Double, release: Double) {
    var settings = Self.settings
    (settings.attack, settings.release) = (Seconds(attack), Seconds(release))
    let loudEnd = 14_400
    let sound = TestSound(mono, frames: 30_000) { _, frame in frame < loudEnd ? 0.5 : 0.001 }
    let result = sound.processed(by: Compressor(settings, format: mono))
    let reductions = zip(result.channels[0], sound.channels[0]).map {
      -20 * log10(Double($0 / $1))
    }
    let full = (20 * log10(0.5) + 24) * 0.75
    let up = reductions.firstIndex { $0 >= full * (1 - exp(-1)) } ?? 0
    #expect(abs(Double(up) / Self.rate / attack - 1) < 0.05)
    // The release begins when the last peak is 10 ms past.
    let held = loudEnd + 479
    #expect(abs(reductions[held - 1] - full) < 0.05)
    #expect(reductions[held] < reductions[held - 1])
    let down = reductions[held...].firstIndex { $0 <= full * exp(-1) } ?? 0
    #expect(abs(Double(down - held) / Self.rate / release - 1) < 0.05)
  }

  @Test func `sound below the knee keeps every bit`() {
    let sound = TestSound.noise(amplitude: 0.04, stereo, frames: 3000)
    let result = sound.processed(by: Compressor(Self.settings, format: stereo))
    #expect(result.isBitIdentical(to: sound))
  }

  @Test func `follows the same design in double precision within 0.001 dB`() {
    let sound = TestSound.babble(stereo, frames: 20_000)
    let result = sound.processed(by: Compressor(Self.settings, format: stereo))
    let keeps = [exp(-1 / (0.008 * Self.rate)), exp(-1 / (0.04 * Self.rate))]
    var (state, worst) = (0.0, 0.0)
    for frame in 0..<sound.frameCount.count {
      let past = max(0, frame - 479)...frame
      let level = Double(sound.channels.map { $0[past].map(abs).max() ?? 0 }.max() ?? 0)
      let over = 20 * log10(max(level, 1e-9)) + 24
      let wanted = over < -3 ? 0 : over <= 3 ? 0.75 * pow(over + 3, 2) / 12 : 0.75 * over
      let keep = wanted > state ? keeps[0] : keeps[1]
      state = keep * state + (1 - keep) * wanted
      for channel in 0...1 where abs(sound.channels[channel][frame]) > 1e-3 {
        let ratio = Double(result.channels[channel][frame] / sound.channels[channel][frame])
        worst = max(worst, abs(-20 * log10(ratio) - state))
      }
    }
    #expect(worst < 0.001)
  }

  @Test func `both channels get the same gain`() {
    let sound = TestSound(stereo, frames: 6000) { channel, _ in channel == 0 ? 0.5 : 0.01 }
    let result = sound.processed(by: Compressor(Self.settings, format: stereo))
    let (left, right) = (result.channels[0][5999], result.channels[1][5999])
    #expect(left < 0.3)
    #expect(abs(left / right - 50) < 1e-3)
  }

  @Test func `absurd settings give finite sound`() {
    for extreme in [1e12, -1e12] {
      let settings = Compressor.Settings(
        threshold: Decibels(extreme), ratio: extreme, knee: Decibels(extreme),
        attack: Seconds(extreme), release: Seconds(extreme), makeUp: Decibels(extreme))
      let result = TestSound.noise(stereo, frames: 500)
        .processed(by: Compressor(settings, format: stereo))
      #expect(result.isFinite)
    }
  }
}
