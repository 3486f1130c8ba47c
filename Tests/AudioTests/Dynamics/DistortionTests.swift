import Audio
import Foundation
import TestSupport
import Testing

/// What compressor and limiter add to a pure tone once they have settled, measured in its
/// spectrum; and the compressor's static curve beside ffmpeg's. The figures stand in `Figures.md`.
@Suite struct DistortionTests {
  private static let rate = 48_000.0
  private let mono = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)

  private func compressor(_ detector: Sidechain.Detector = .peak) -> Compressor {
    Compressor(
      Compressor.Settings(
        threshold: Decibels(-18), ratio: 3, knee: Decibels(6), attack: Seconds(0.008),
        release: Seconds(0.12), sidechain: Sidechain(detector)), format: mono)
  }

  private func limiter() -> Limiter {
    Limiter(Limiter.Settings(ceiling: Decibels(-6)), format: mono)
  }

  /// A second of a settled tone of −1 dB, of whole periods, and away from the end: there a limiter
  /// has to do with the tone's being cut off.
  private func settled(_ frequency: Double, through processor: any Processor) -> TestSound {
    let sound = TestSound.sine(
      Hertz(frequency), amplitude: pow(10, -1 / 20), mono, frames: 3 * 48_000)
    return sound.processed(by: processor)[48_000..<96_000]
  }

  /// All that is not the tone, against the tone, in dB.
  private func distortion(_ sound: TestSound, _ frequency: Double) -> Double {
    let count = Double(sound.frameCount.count)
    // A sine of amplitude 1 has a magnitude of count / 2, and a power of 1/2 a sample.
    let tone = pow(10, sound.spectrum(ofChannel: 0, at: Hertz(frequency)).value / 20) / count * 2
    let power = pow(10, sound.rms(ofChannel: 0).value / 10)
    return 10 * log10(max(power - tone * tone / 2, 1e-20) / (tone * tone / 2))
  }

  @Test(arguments: [100.0, 1000, 10_000])
  func `a settled compressor adds little`(frequency: Double) {
    // Held peaks stand still; the mean of squares hardly follows a half wave.
    let peak = distortion(settled(frequency, through: compressor()), frequency)
    #expect(peak < -125, "\(peak) dB")
    let rms = distortion(
      settled(frequency, through: compressor(.rms(window: Seconds(0.02)))), frequency)
    #expect(rms < (frequency < 500 ? -78 : -117), "\(rms) dB")
  }

  @Test(arguments: [100.0, 1000, 10_000])
  func `a settled limiter adds next to nothing`(frequency: Double) {
    let result = distortion(settled(frequency, through: limiter()), frequency)
    #expect(result < -120, "\(result) dB")
  }

  @Test func `below what peaks are held for, a compressor adds odd harmonics, ever weaker`() {
    let sound = settled(30, through: compressor())
    let levels = [30.0, 90, 150, 210].map {
      sound.spectrum(ofChannel: 0, at: Hertz($0)).value
    }
    #expect(zip(levels, levels.dropFirst()).allSatisfy { $0 > $1 + 3 }, "\(levels) dB")
    #expect(levels[1] < levels[0] - 47, "\(levels) dB")
    for even in [60.0, 120] {
      let level = sound.spectrum(ofChannel: 0, at: Hertz(even)).value - levels[0]
      #expect(level < -130, "\(level) dB at \(even) Hz")
    }
  }

  @Test func `what folds back from above half the sample rate is far below hearing`() {
    // Gains that ripple at 2f make 3f, 5f …: of 10 kHz, 30 kHz, which comes back at 18, and so on.
    for (name, processor, limit) in [
      ("compressor", compressor() as any Processor, -150.0), ("limiter", limiter(), -150),
    ] {
      let result = settled(10_000, through: processor)
      let tone = result.spectrum(ofChannel: 0, at: Hertz(10_000)).value
      for alias in [18_000.0, 2000, 22_000, 6000, 14_000] {
        let level = result.spectrum(ofChannel: 0, at: Hertz(alias)).value - tone
        #expect(level < limit, "\(name): \(level) dB at \(alias) Hz")
      }
    }
  }

  @Test(.enabled(if: Program(named: "ffmpeg") != nil, "ffmpeg is not installed"))
  func `steady levels come out as from ffmpeg's compressor, within 0.05 dB`() throws {
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let scratch = try ScratchFolder()
    let levels = [-40.0, -25, -15, -9, -3]
    let sound = TestSound(mono, frames: levels.count * 48_000) { _, frame in
      let amplitude = pow(10, levels[frame / 48_000] / 20)
      return Float(frame % 48 < 24 ? amplitude : -amplitude)
    }
    try sound.writeWAV(to: scratch.file("in.wav"))
    let threshold = pow(10, -20.0 / 20)
    let output = try ffmpeg.run([
      "-v", "error", "-i", scratch.file("in.wav"), "-af",
      "acompressor=threshold=\(threshold):ratio=4:knee=1:attack=5:release=50:detection=peak",
      "-f", "f32le", "-",
    ])
    let theirs = TestSound(rawFloats: output.output, sampleRate: Hertz(Self.rate), channelCount: 1)
    let ours = sound.processed(
      by: Compressor(
        Compressor.Settings(
          threshold: Decibels(-20), ratio: 4, knee: Decibels(0), attack: Seconds(0.005),
          release: Seconds(0.05)), format: mono))
    for index in levels.indices {
      let settled = index * 48_000 + 40_000..<index * 48_000 + 47_000
      #expect(abs(ours[settled].peak.value - theirs[settled].peak.value) < 0.05)
    }
  }
}
