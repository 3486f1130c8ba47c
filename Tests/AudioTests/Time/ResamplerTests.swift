import Audio
import Foundation
import TestSupport
import Testing

@Suite struct ResamplerTests {
  private func format(_ rate: Double, _ channelCount: Int = 1) -> AudioFormat {
    AudioFormat(sampleRate: Hertz(rate), channelCount: channelCount)
  }

  private func resampled(
    _ sound: TestSound, to rate: Double, _ quality: Resampler.Quality = .high
  ) -> TestSound {
    sound.processed(
      by: Resampler(to: Hertz(rate), quality: quality, format: sound.format), cuts: [5000, 3])
  }

  /// A tone at the new rate, without the ends, where the filter still sees the edges.
  private func tone(
    _ frequency: Double, from old: Double, to new: Double, _ quality: Resampler.Quality
  ) -> FoundTone {
    let sound = TestSound.sine(
      Hertz(frequency), amplitude: 0.9, format(old), frames: Int(old * 0.6))
    let result = resampled(sound, to: new, quality)
    let edge = Int(new * 0.1)
    return result[edge..<result.frameCount.count - edge].tone(of: Hertz(frequency))
  }

  @Test func `keeps the promises of a processor`() throws {
    for rate in [44_100.0, 16_000] {
      try checkProcessorConformance(keepsLength: false) {
        Resampler(to: Hertz(rate), quality: .quick, format: $0)
      }
    }
    // Phases that are read off between others.
    try checkProcessorConformance(keepsLength: false, channelCounts: 1...1) {
      Resampler(to: Hertz(44_101), quality: .quick, format: $0)
    }
    try checkProcessorConformance(keepsLength: false, channelCounts: 64...64) {
      Resampler(to: Hertz(48_000), quality: .quick, format: $0)
    }
  }

  @Test(arguments: [
    (44_100.0, 48_000.0), (48_000, 44_100), (8000, 48_000), (48_000, 8000), (96_000, 48_000),
    (384_000, 8000), (8000, 384_000), (44_100, 44_101), (22_050, 11_025),
  ])
  func `gives the frames that begin before the end, at their places`(old: Double, new: Double) {
    for frames in [1, 1000, 4001] {
      let result = resampled(.constant(0.5, format(old), frames: frames), to: new)
      #expect(result.frameCount.count == Int((Double(frames) * new / old).rounded(.up)))
      #expect(
        Resampler.length(of: Frames(frames), from: Hertz(old), to: Hertz(new))
          == result.frameCount)
    }
    // A slow swell stands where it stood: the middle of a long cosine.
    let length = Int(old / 2)
    let sound = TestSound(format(old), frames: length) {
      Float(0.5 - 0.5 * cos(2 * .pi * Double($1) / Double(length)))
    }
    let result = resampled(sound, to: new)
    for place in [0.3, 0.5, 0.61] {
      let frame = Int(place * Double(result.frameCount.count))
      let time = Double(frame) / new
      let expected = 0.5 - 0.5 * cos(2 * .pi * time * old / Double(length))
      #expect(abs(Double(result.channels[0][frame]) - expected) < 1e-5)
    }
  }

  @Test(arguments: [
    (44_100.0, 48_000.0), (48_000, 44_100), (96_000, 44_100), (44_100, 192_000),
    (44_100, 44_101), (48_000, 16_000),
  ])
  func `distortion and noise are far below what can be heard`(old: Double, new: Double) {
    for frequency in [997.0, 6500] {
      #expect(tone(frequency, from: old, to: new, .quick).rest.value < -96)
      #expect(tone(frequency, from: old, to: new, .high).rest.value < -122)
      #expect(tone(frequency, from: old, to: new, .best).rest.value < -130)
    }
  }

  @Test(arguments: [(44_100.0, 48_000.0), (96_000, 44_100), (48_000, 32_000)])
  func `the band is flat as far as the quality says`(old: Double, new: Double) {
    let nyquist = min(old, new) / 2
    for quality in [Resampler.Quality.quick, .high, .best] {
      for share in [0.001, 0.1, 0.3, 0.5, 0.7, 0.9, 1] {
        let found = tone(nyquist * quality.bandwidth * share, from: old, to: new, quality)
        #expect(abs(Decibels(amplitude: found.amplitude / 0.9).value) < 0.001, "\(share)")
      }
    }
  }

  @Test(arguments: [(96_000.0, 44_100.0), (48_000, 32_000), (192_000, 48_000), (48_000, 8000)])
  func `what has no place at the new rate is gone`(old: Double, new: Double) {
    for quality in [Resampler.Quality.quick, .high, .best] {
      for share in [1.0, 1.02, 1.2, 1.5, 1.9] where new / 2 * share < old / 2 {
        let sound = TestSound.sine(
          Hertz(new / 2 * share), amplitude: 1, phase: 0.7, format(old), frames: Int(old * 0.6))
        let result = resampled(sound, to: new, quality)
        let edge = Int(new * 0.1)
        let middle = result[edge..<result.frameCount.count - edge]
        #expect(middle.rms(ofChannel: 0).value < -min(quality.attenuation, 138) + 1, "\(share)")
      }
    }
  }

  @Test(
    .enabled(if: Program(named: "sox") != nil, "the sox program is not installed"),
    arguments: [(44_100.0, 48_000.0), (48_000, 44_100), (96_000, 48_000), (16_000, 44_100)])
  func `is what sox makes of it`(old: Double, new: Double) throws {
    // Glides through the band that both leave as it is.
    let length = Int(old)
    let top = min(old, new) / 2 * 0.85
    let sound = TestSound(format(old, 2), frames: length) { channel, frame in
      let time = Double(frame) / old
      let edge = FadeCurve.sCurve.gain(at: min(time, 1 - time) * 5)
      return Float(0.5 * edge * sin(.pi * top * time * time + Double(channel)))
    }
    let scratch = try ScratchFolder()
    try sound.writeWAV(to: scratch.file("in.wav"))
    let output = try Reference.output(
      "sox",
      [
        scratch.file("in.wav"), "-t", "raw", "-e", "floating-point", "-b", "32", "-", "rate", "-v",
        "\(Int(new))",
      ])
    let theirs = TestSound(rawFloats: output, sampleRate: Hertz(new), channelCount: 2)
    let ours = resampled(sound, to: new, .best)
    let count = min(ours.frameCount.count, theirs.frameCount.count)
    #expect(abs(ours.frameCount.count - theirs.frameCount.count) <= 1)
    // Its own filter bends the top of the glide by 0.0003 dB.
    let middle = 0..<count * 6 / 10
    #expect(ours[middle].greatestDifference(from: theirs[middle]) < 3e-7)
    #expect(ours[0..<count].greatestDifference(from: theirs[0..<count]) < 1e-4)
  }

  @Test func `there and back again nothing is lost`() {
    let sound = TestSound(format(44_100, 2), frames: 44_100) { channel, frame in
      let time = Double(frame) / 44_100
      return Float(0.4 * sin(2 * .pi * (300 + 9000 * time) * time + Double(channel)))
    }
    let back = resampled(resampled(sound, to: 96_000, .best), to: 44_100, .best)
    #expect(back.frameCount == sound.frameCount)
    let middle = 2000..<42_000
    #expect(back[middle].greatestDifference(from: sound[middle]) < 2e-6)
  }

  @Test func `constant sound stays what it is`() {
    let result = resampled(.constant(0.25, format(44_100, 3), frames: 20_000), to: 48_000)
    for channel in result.channels {
      #expect(channel[2000..<18_000].allSatisfy { abs($0 - 0.25) < 1e-6 })
    }
  }
}
