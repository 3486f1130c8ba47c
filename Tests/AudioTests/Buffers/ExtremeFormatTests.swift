import Audio
import TestSupport
import Testing

/// Every processor at the ends of what a format may be.
@Suite struct ExtremeFormatTests {
  private static let careful = Sidechain(
    .rms(window: Seconds(0.01)), highPass: Hertz(100), link: 0.5, lookAhead: Seconds(0.01))

  private static let makers: [(name: String, make: @Sendable (AudioFormat) -> any Processor)] = [
    (
      "equalizer",
      { Equalizer(bands: [EqualizerBand(.peak, frequency: Hertz(20_000))], format: $0) }
    ),
    (
      "gate",
      {
        Gate(
          Gate.Settings(
            threshold: Decibels(-20), attack: Seconds(0.001), hold: Seconds(0.01),
            release: Seconds(0.05), sidechain: careful), format: $0)
      }
    ),
    (
      "compressor",
      {
        Compressor(
          Compressor.Settings(
            threshold: Decibels(-30), ratio: 4, knee: Decibels(6), attack: Seconds(0.001),
            release: Seconds(0.05), mix: 0.5, sidechain: careful), format: $0)
      }
    ),
    ("limiter", { Limiter(Limiter.Settings(ceiling: Decibels(-6)), format: $0) }),
    ("offset", { OffsetRemover(offsets: [0.5], format: $0) }),
    ("de-esser", { DeEsser(DeEsser.Settings(), format: $0) }),
    ("declipper", { Declipper(Declipper.Settings(level: Decibels(-3)), format: $0) }),
    (
      "denoiser",
      {
        let meter = NoiseProfile.Meter(format: $0)
        TestSound.noise(amplitude: 0.01, $0, frames: Int($0.sampleRate.value / 2)).analysed(
          by: meter)
        let noise = meter.finding().noise
        return Denoiser(
          Denoiser.Settings(),
          noise: noise ?? NoiseProfile(spectra: [], level: Decibels(0), start: Seconds(0)),
          format: $0)
      }
    ),
  ]

  @Test(arguments: makers.indices, [(8000.0, 64), (8000, 1), (384_000, 2), (384_000, 33)])
  func `gives finite sound of the same length`(maker: Int, shape: (Double, Int)) {
    let format = AudioFormat(sampleRate: Hertz(shape.0), channelCount: shape.1)
    let (name, make) = Self.makers[maker]
    for sound in [
      TestSound.square(half: 37, format, frames: 20_011), .noise(format, frames: 20_011),
      // Some 30 dB above full scale: floats have room for it.
      .babble(amplitude: 40, format, frames: 20_011),
    ] {
      let result = sound.processed(by: make(format))
      #expect(result.isFinite, "\(name)")
      #expect(result.frameCount == sound.frameCount, "\(name)")
      #expect(result.peakAmplitude < 200, "\(name)")
    }
  }

  @Test(arguments: makers.indices)
  func `a channel among 64 is treated as one among few`(maker: Int) {
    // One sound everywhere, so that linked channels hear the same.
    let many = AudioFormat(sampleRate: Hertz(48_000), channelCount: 64)
    let two = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
    let (name, make) = Self.makers[maker]
    guard name != "offset", name != "denoiser" else { return }
    let tone = TestSound.sine(Hertz(6700), amplitude: 0.9, two, frames: 9000)
    let wide = TestSound.sine(Hertz(6700), amplitude: 0.9, many, frames: 9000)
    let (few, all) = (tone.processed(by: make(two)), wide.processed(by: make(many)))
    for channel in [0, 31, 63] { #expect(all.channels[channel] == few.channels[1], "\(name)") }
  }
}
