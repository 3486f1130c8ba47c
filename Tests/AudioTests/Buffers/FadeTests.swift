import Audio
import Foundation
import TestSupport
import Testing

@Suite struct FadeTests {
  private let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func fade(
    _ fadeIn: Double, _ fadeOut: Double, _ curve: FadeCurve = .linear, _ format: AudioFormat
  ) -> Fade {
    Fade(fadeIn: Seconds(fadeIn), fadeOut: Seconds(fadeOut), curve: curve, format: format)
  }

  @Test func `keeps the promises of a processor`() throws {
    for curve in FadeCurve.allCases {
      try checkProcessorConformance { fade(0.01, 0.02, curve, $0) }
    }
    // Longer than the sound.
    try checkProcessorConformance(channelCounts: 1...2) { fade(1, 1, .sCurve, $0) }
    try checkProcessorConformance(channelCounts: 64...64) { fade(0.003, 0.001, .linear, $0) }
  }

  @Test func `changes nothing between the fades, and nothing at all without any`() {
    let sound = TestSound.noise(stereo, frames: 20_000)
    let result = sound.processed(by: fade(0.1, 0.2, .linear, stereo))
    #expect(result[4800..<10_400].isBitIdentical(to: sound[4800..<10_400]))
    #expect(sound.processed(by: fade(0, 0, .linear, stereo)).isBitIdentical(to: sound))
  }

  @Test(arguments: FadeCurve.allCases)
  func `rises from nothing to one, and falls as its mirror image`(curve: FadeCurve) {
    let sound = TestSound.constant(1, stereo, frames: 4800)
    let result = sound.processed(by: fade(0.05, 0.05, curve, stereo)).channels[1]
    #expect(result[0] == 0 && result[4799] == 0)
    #expect(result[2399] < 1 && result[2399] > 0.98)
    for index in 0..<2400 { #expect(result[index] == result[4799 - index]) }
    for index in 1..<2400 { #expect(result[index] > result[index - 1]) }
  }

  /// ffmpeg's names for the same curves.
  @Test(
    .enabled(if: Program(named: "ffmpeg") != nil, "the ffmpeg program is not installed"),
    arguments: [
      (FadeCurve.linear, "tri"), (.sCurve, "hsin"), (.exponential, "exp"), (.equalPower, "qsin"),
    ])
  func `is ffmpeg's afade`(curve: FadeCurve, name: String) throws {
    let sound = TestSound.noise(amplitude: 0.9, stereo, frames: 30_000)
    let scratch = try ScratchFolder()
    try sound.writeWAV(to: scratch.file("in.wav"))
    let filter =
      "afade=t=in:ns=9600:curve=\(name),afade=t=out:ss=\(30_000 - 4800):ns=4800:curve=\(name)"
    let output = try Reference.ffmpeg([
      "-i", scratch.file("in.wav"), "-af", filter, "-f", "f32le", "-",
    ])
    let expected = TestSound(rawFloats: output, sampleRate: Hertz(48_000), channelCount: 2)
    let result = sound.processed(by: fade(0.2, 0.1, curve, stereo), cuts: [1000, 7])
    // ffmpeg's fade-out is a frame off the mirror image: as much as the steepest curve climbs.
    #expect(result[0..<20_000].greatestDifference(from: expected[0..<20_000]) < 2e-5)
    #expect(result.greatestDifference(from: expected) < 0.003)
  }

  @Test func `a fade-out longer than the sound takes all of it`() {
    let result = TestSound.constant(1, stereo, frames: 100)
      .processed(by: fade(0, 10, .linear, stereo))
    #expect(result.frameCount == Frames(100))
    #expect(abs(result.channels[0][0] - 0.99) < 1e-6)
    #expect(result.channels[0][99] == 0)
  }

  @Test(arguments: [8000.0, 44_100, 384_000])
  func `lengths are lengths at every rate`(rate: Double) {
    let format = AudioFormat(sampleRate: Hertz(rate), channelCount: 1)
    let result = TestSound.constant(1, format, frames: Int(rate))
      .processed(by: fade(0.25, 0.25, .linear, format)).channels[0]
    // A frame is this part of a fade.
    let step = Float(4.01 / rate)
    #expect(abs(result[Int(rate) / 8] - 0.5) <= step)
    #expect(abs(result[Int(rate * 7 / 8)] - 0.5) <= step)
    #expect(result[1] > 0 && result[1] < 1.01 * step)
    #expect(result[Int(rate) / 2] == 1)
  }
}
