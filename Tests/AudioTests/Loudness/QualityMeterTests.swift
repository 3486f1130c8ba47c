import Audio
import Foundation
import TestSupport
import Testing

@Suite struct QualityMeterTests {
  private let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
  private static let silence = SilenceShortener.Settings(
    threshold: Decibels(-45), minimum: Seconds(0.5), maximum: nil)

  private static var scope: QualityMeter.Scope {
    var scope = QualityMeter.Scope()
    scope.hasLevels = true
    scope.silence = silence
    scope.hasNoise = true
    return scope
  }

  private func finding(
    _ sound: TestSound, _ scope: QualityMeter.Scope = scope
  ) -> QualityMeter.Finding {
    let meter = QualityMeter(scope, format: sound.format)
    sound.analysed(by: meter)
    return meter.finding()
  }

  @Test func `keeps the promises of an analyser`() throws {
    try checkAnalyserConformance { QualityMeter(Self.scope, format: $0) }
  }

  @Test func `the share of silence is that of the silences that are long enough`() throws {
    // 10 s of tone, silent from 1 s to 3 s, at 5 s for 0.3 s, and from 9 s to the end.
    var sound = TestSound.sine(Hertz(1000), amplitude: 0.3, format, frames: 480_000)
    for channel in 0...1 {
      for silent in [48_000..<144_000, 240_000..<254_400, 432_000..<480_000] {
        for frame in silent { sound.channels[channel][frame] *= 0.001 }
      }
    }
    // A sine stays below the threshold for a moment before and after its zeros.
    #expect(abs(try #require(finding(sound).silence) - 0.3) < 0.0001)
    #expect(finding(.silence(format, frames: 96_000)).silence == 1)
    #expect(finding(.sine(Hertz(1000), amplitude: 0.3, format, frames: 96_000)).silence == 0)
  }

  // Power adds up: a signal that is there for half of the time has half of its power on average.
  @Test(arguments: [6.0, 20, 40, 60])
  func `the signal-to-noise ratio is that of the powers that were mixed`(ratio: Double) throws {
    let noise = TestSound.noise(amplitude: 0.01, seed: 3, format, frames: 10 * 48_000)
    let power = 0.01 * 0.01 / 3 * pow(10, ratio / 10)
    // A sine's power is half the square of its amplitude; it sounds every other second.
    let amplitude = (2 * 2 * power).squareRoot()
    var sound = TestSound.sine(Hertz(700), amplitude: amplitude, format, frames: 10 * 48_000)
    for channel in 0...1 {
      for frame in sound.channels[channel].indices {
        if frame / 48_000 % 2 == 1 { sound.channels[channel][frame] = 0 }
        sound.channels[channel][frame] += noise.channels[channel][frame]
      }
    }
    let found = try #require(finding(sound).signalToNoise)
    #expect(abs(found.value - ratio) < 0.5)
  }

  @Test func `noise that cannot be told from the signal gives no ratio`() {
    #expect(finding(.silence(format, frames: 96_000)).signalToNoise == nil)
    #expect(finding(.noise(format, frames: 9600)).signalToNoise == nil)
  }

  @Test func `only what is wanted is measured`() {
    let sound = TestSound.noise(amplitude: 0.1, format, frames: 96_000)
    let plain = finding(sound, QualityMeter.Scope())
    #expect(plain.frames == Frames(96_000) && plain.levels == nil)
    #expect(plain.silence == nil && plain.signalToNoise == nil)
    var silent = QualityMeter.Scope()
    silent.silence = Self.silence
    #expect(finding(sound, silent).levels == nil && finding(sound, silent).silence == 0)
  }
}
