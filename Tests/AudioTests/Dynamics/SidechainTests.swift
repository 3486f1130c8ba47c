import Audio
import Foundation
import TestSupport
import Testing

/// What gate and compressor can be told to listen to.
@Suite struct SidechainTests {
  private static let rate = 48_000.0
  private let mono = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(rate), channelCount: 2)

  private func compressor(_ sidechain: Sidechain, mix: Double = 1) -> Compressor.Settings {
    Compressor.Settings(
      threshold: Decibels(-30), ratio: 4, knee: Decibels(6), attack: Seconds(0.004),
      release: Seconds(0.03), mix: mix, sidechain: sidechain)
  }

  private func gate(_ sidechain: Sidechain) -> Gate.Settings {
    Gate.Settings(
      threshold: Decibels(-30), attack: Seconds(0.002), hold: Seconds(0.01),
      release: Seconds(0.03), range: Decibels(-40), sidechain: sidechain)
  }

  private static let sidechains = [
    Sidechain(.rms(window: Seconds(0.005))), Sidechain(highPass: Hertz(300)),
    Sidechain(link: 0), Sidechain(link: 0.4), Sidechain(lookAhead: Seconds(0.003)),
    Sidechain(
      .rms(window: Seconds(0.01)), highPass: Hertz(120), link: 0.5, lookAhead: Seconds(0.0021)),
  ]

  @Test(arguments: sidechains)
  func `keeps the promises of a processor`(sidechain: Sidechain) throws {
    try checkProcessorConformance(channelCounts: 1...3) {
      Compressor(compressor(sidechain, mix: 0.7), format: $0)
    }
    try checkProcessorConformance(channelCounts: 1...3) { Gate(gate(sidechain), format: $0) }
  }

  /// The level that the definition gives, in the plainest words.
  private func rms(_ samples: [Float], window: Double) -> [Double] {
    let step = 1 - exp(-1 / (window * Self.rate))
    var square = 0.0
    return samples.map {
      square += (Double($0) * Double($0) - square) * step
      return square.squareRoot()
    }
  }

  @Test func `RMS levels are those of the definition`() {
    // Settings that follow at once: the gain is the curve of the level.
    var settings = compressor(Sidechain(.rms(window: Seconds(0.02))))
    (settings.attack, settings.release, settings.knee) = (Seconds(0), Seconds(0), Decibels(0))
    let sound = TestSound.babble(mono, frames: 20_000)
    let result = sound.processed(by: Compressor(settings, format: mono))
    var worst = 0.0
    for (frame, level) in rms(sound.channels[0], window: 0.02).enumerated()
    where abs(sound.channels[0][frame]) > 1e-3 {
      let expected = -0.75 * max(20 * log10(max(level, 1e-9)) + 30, 0)
      let gain = 20 * log10(Double(result.channels[0][frame] / sound.channels[0][frame]))
      worst = max(worst, abs(gain - expected))
    }
    #expect(worst < 0.002)
  }

  @Test(arguments: [50.0, 200, 1000])
  func `the high-pass keeps what is low from counting`(frequency: Double) {
    var settings = compressor(Sidechain(highPass: Hertz(200)))
    (settings.attack, settings.knee) = (Seconds(0), Decibels(0))
    settings.release = Seconds(10)
    // A swell, for the filter answers a sudden tone with more than its steady state.
    var sound = TestSound.sine(Hertz(frequency), amplitude: 0.5, mono, frames: 48_000)
    for frame in 0..<24_000 { sound.channels[0][frame] *= Float(frame) / 24_000 }
    let result = sound.processed(by: Compressor(settings, format: mono))
    let band = EqualizerBand(.highPass, frequency: Hertz(200))
    let heard =
      20 * log10(0.5) + band.response(at: Hertz(frequency), sampleRate: Hertz(Self.rate)).value
    let expected = 0.75 * max(heard + 30, 0)
    let tail = 40_000..<47_000
    let reduction =
      sound[tail].rms(ofChannel: 0).value - result[tail].rms(ofChannel: 0).value
    #expect(abs(reduction - expected) < 0.1)
  }

  /// A sound whose second channel is far below the first: what comes of it is the gain, exactly.
  private func withPilot(frames: Int) -> TestSound {
    var sound = TestSound.babble(stereo, frames: frames)
    sound.channels[1] = sound.channels[1].map { _ in 0x1p-20 }
    return sound
  }

  @Test func `looking ahead moves the gain and nothing else`() {
    let sound = withPilot(frames: 9000)
    let frames = 144
    let ahead = Sidechain(lookAhead: Seconds(Double(frames) / Self.rate))
    let plain = sound.processed(by: Compressor(compressor(Sidechain()), format: stereo))
    let early = sound.processed(by: Compressor(compressor(ahead), format: stereo))
    #expect(early.channels[1].dropLast(frames) == plain.channels[1].dropFirst(frames))
    for frame in 0..<9000 {
      #expect(
        early.channels[0][frame] == sound.channels[0][frame] * (early.channels[1][frame] * 0x1p20))
    }
  }

  @Test func `a gate that looks ahead is open when the sound comes, and holds as long`() {
    let sound = TestSound(mono, frames: 20_000) { _, frame in
      (6000..<9000).contains(frame) ? 0.5 : 0x1p-20
    }
    var settings = gate(Sidechain(lookAhead: Seconds(0.02)))
    settings.attack = Seconds(0.001)
    let result = sound.processed(by: Gate(settings, format: mono)).channels[0]
    #expect(result[6000..<9000].allSatisfy { $0 == 0.5 })
    #expect((result[6000 - 960 - 1] * 0x1p20) < 0.011)
    let firstClosing = result[9000...].firstIndex { $0 < 0x1p-20 }
    #expect(firstClosing == 9000 + 480)
  }

  @Test(arguments: [0, 0.3, 0.75])
  func `the mix adds what came in`(mix: Double) {
    let sound = withPilot(frames: 6000)
    let wet = sound.processed(by: Compressor(compressor(Sidechain()), format: stereo))
    let mixed = sound.processed(by: Compressor(compressor(Sidechain(), mix: mix), format: stereo))
    if mix == 0 { #expect(mixed.isBitIdentical(to: sound)) }
    let worst = zip(wet.channels[1], mixed.channels[1]).map { wet, mixed in
      abs(Double(mixed) * 0x1p20 - (1 - mix + mix * Double(wet) * 0x1p20))
    }
    #expect((worst.max() ?? 1) < 2e-7)
  }

  @Test func `unlinked channels are treated as if each were alone`() {
    let sound = TestSound.babble(stereo, frames: 9000)
    let apart = Sidechain(link: 0)
    let results = [
      sound.processed(by: Compressor(compressor(apart), format: stereo)),
      sound.processed(by: Gate(gate(apart), format: stereo)),
    ]
    for channel in 0...1 {
      let alone = TestSound(sampleRate: Hertz(Self.rate), channels: [sound.channels[channel]])
      let expected = [
        alone.processed(by: Compressor(compressor(Sidechain()), format: mono)),
        alone.processed(by: Gate(gate(Sidechain()), format: mono)),
      ]
      for (result, expected) in zip(results, expected) {
        #expect(result.channels[channel] == expected.channels[0])
      }
    }
  }

  @Test func `half linked, a channel hears half of what the loudest has more`() {
    // The quiet channel hears 0.02 + (0.4 − 0.02) / 2 = 0.21.
    let sound = TestSound(stereo, frames: 9000) { channel, _ in channel == 0 ? 0.4 : 0.02 }
    var settings = compressor(Sidechain(link: 0.5))
    settings.knee = Decibels(0)
    let result = sound.processed(by: Compressor(settings, format: stereo))
    for (channel, level) in [0.4, 0.21].enumerated() {
      let gain = 20 * log10(Double(result.channels[channel][8999] / sound.channels[channel][8999]))
      #expect(abs(gain + 0.75 * (20 * log10(level) + 30)) < 0.001)
    }
  }
}
