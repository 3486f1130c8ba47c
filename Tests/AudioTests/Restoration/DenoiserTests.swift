@testable import Audio
import Foundation
import TestSupport
import Testing

@Suite struct DenoiserTests {
  private static let rate = 48_000.0
  private let mono = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
  private let stereo = AudioFormat(sampleRate: Hertz(rate), channelCount: 2)

  /// The profile of white noise of a mean square, in closed form: the squares of the window add up
  /// to half its length.
  private func white(_ power: Double, _ format: AudioFormat) -> NoiseProfile {
    let window = SpectralWindow(sampleRate: format.sampleRate)
    let bin = Float(power * Double(window.length) / 2)
    return NoiseProfile(
      spectra: Array(
        repeating: Array(repeating: bin, count: window.binCount), count: format.channelCount),
      level: Decibels(10 * log10(power)), start: Seconds(0))
  }

  @Test func `keeps the promises of a processor`() throws {
    try checkProcessorConformance(channelCounts: 1...4) {
      Denoiser(Denoiser.Settings(), noise: white(1e-4, $0), format: $0)
    }
  }

  @Test(arguments: [8000.0, 44_100, 48_000, 384_000], [1, 2, 3])
  func `with nothing to take out, what comes out is what went in`(
    rate: Double, channelCount: Int
  ) {
    let format = AudioFormat(sampleRate: Hertz(rate), channelCount: channelCount)
    let sound = TestSound.babble(format, frames: 30_000)
    let settings = Denoiser.Settings(reduction: Decibels(0))
    let result = sound.processed(by: Denoiser(settings, noise: white(1e-4, format), format: format))
    #expect(result.greatestDifference(from: sound) < 1e-6)
  }

  @Test(arguments: [6.0, 12, 24])
  func `noise alone is turned down by the reduction`(reduction: Double) {
    let sound = TestSound.noise(amplitude: 0.02, mono, frames: 96_000)
    let settings = Denoiser.Settings(reduction: Decibels(reduction), margin: Decibels(6))
    // Evenly spread noise within ±a has a mean square of a² / 3.
    let denoiser = Denoiser(settings, noise: white(0.02 * 0.02 / 3, mono), format: mono)
    let result = sound.processed(by: denoiser)
    let settled = 9600..<90_000
    let change = result[settled].rms(ofChannel: 0).value - sound[settled].rms(ofChannel: 0).value
    #expect(abs(change + reduction) < 0.5)
  }

  @Test func `a tone far above the noise keeps its level and its place`() {
    let tone = TestSound.sine(Hertz(997), amplitude: 0.5, mono, frames: 96_000)
    var sound = tone
    let noise = TestSound.noise(amplitude: 0.005, mono, frames: 96_000)
    for frame in 0..<96_000 { sound.channels[0][frame] += noise.channels[0][frame] }
    let denoiser = Denoiser(
      Denoiser.Settings(reduction: Decibels(20)), noise: white(0.005 * 0.005 / 3, mono),
      format: mono)
    let result = sound.processed(by: denoiser)
    let settled = 9600..<81_600
    #expect(error(result[settled], tone[settled]) < error(sound[settled], tone[settled]) - 15)
  }

  /// The RMS of the difference, in dB.
  private func error(_ a: TestSound, _ b: TestSound) -> Double {
    var difference = a
    difference.channels[0] = zip(a.channels[0], b.channels[0]).map(-)
    return difference.rms(ofChannel: 0).value
  }

  /// Speech-like bursts with pauses, and noise over them.
  private func noisyVoice() -> (clean: TestSound, noisy: TestSound) {
    let frames = 480_000
    var clean = TestSound.babble(amplitude: 0.5, mono, frames: frames)
    for frame in 0..<frames where frame % 96_000 < 33_600 { clean.channels[0][frame] = 0 }
    var noisy = clean
    let noise = TestSound.noise(amplitude: 0.02, seed: 9, mono, frames: frames)
    for frame in 0..<frames { noisy.channels[0][frame] += noise.channels[0][frame] }
    return (clean, noisy)
  }

  private func denoised(_ sound: TestSound) throws -> TestSound {
    let meter = NoiseProfile.Meter(format: mono)
    sound.analysed(by: meter)
    let noise = try #require(meter.finding().noise)
    return sound.processed(by: Denoiser(Denoiser.Settings(), noise: noise, format: mono))
  }

  @Test(.enabled(if: Program(named: "ffmpeg") != nil, "ffmpeg is not installed"))
  func `brings a voice nearer to the clean one than ffmpeg's afftdn does`() throws {
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let (clean, noisy) = noisyVoice()
    let scratch = try ScratchFolder()
    try noisy.writeWAV(to: scratch.file("in.wav"))
    // The noise has the given level; the same reduction is requested.
    let level = 20 * log10(0.02 / 3.0.squareRoot())
    let output = try ffmpeg.run([
      "-v", "error", "-i", scratch.file("in.wav"), "-af",
      "afftdn=nr=12:nf=\(level.rounded()):nt=w", "-f", "f32le", "-",
    ])
    let raw = TestSound(rawFloats: output.output, sampleRate: Hertz(Self.rate), channelCount: 1)
    // It delays: the lag at which it is nearest is its own.
    let settled = 96_000..<400_000
    let theirs =
      stride(from: 0, through: 4800, by: 1).map { lag in (lag, quick(raw, clean, lag)) }
      .min { $0.1 < $1.1 }.map(\.0) ?? 0
    let shifted = raw[settled.lowerBound + theirs..<settled.upperBound + theirs]
    let ours = try denoised(noisy)
    let before = error(noisy[settled], clean[settled])
    let after = error(ours[settled], clean[settled])
    #expect(after < before - 6)
    #expect(after < error(shifted, clean[settled]))
  }

  private func quick(_ a: TestSound, _ b: TestSound, _ lag: Int) -> Double {
    var sum = 0.0
    for frame in stride(from: 140_000, to: 150_000, by: 3) {
      let difference = Double(a.channels[0][frame + lag] - b.channels[0][frame])
      sum += difference * difference
    }
    return sum
  }
}
