import Audio
import TestSupport
import Testing

/// The meter against libebur128, an implementation that shares nothing with it.
@Suite struct LoudnessReferenceTests {
  private static let rates = [8000.0, 44_100, 48_000, 96_000, 192_000]

  private func check(_ sound: TestSound) throws {
    let theirs = try #require(LibraryLoudness(of: sound))
    let meter = LevelMeter(format: sound.format)
    sound.analysed(by: meter)
    let ours = meter.finding()
    let integrated = try #require(ours.integratedLoudness).value
    #expect(abs(integrated - (try #require(theirs.integrated)).value) < 0.005)
    #expect(
      abs(try #require(ours.loudnessRange).value - (try #require(theirs.range)).value) < 0.1)
  }

  /// Something like a talk: loud, then quiet, then nothing, then loud again.
  private func talk(_ format: AudioFormat, seconds: Int) -> TestSound {
    let second = TestSound.babble(format, frames: Int(format.sampleRate.value))
    let gains: [Float] = [0.8, 0.1, 0, 0.4, 0.02, 1]
    var sound = second[0..<0]
    for part in 0..<seconds {
      let scaled = second.map { $0 * gains[part * gains.count / seconds] }
      for channel in sound.channels.indices { sound.channels[channel] += scaled.channels[channel] }
    }
    return sound
  }

  @Test(arguments: rates, [1, 2, 6])
  func `agrees on talk with pauses`(rate: Double, channelCount: Int) throws {
    let format = AudioFormat(
      sampleRate: Hertz(rate), channelCount: channelCount, positions: .mixed(to: channelCount))
    try check(talk(format, seconds: rate > 50_000 ? 9 : 20))
  }

  @Test(arguments: rates, [1, 2, 6])
  func `agrees on noise`(rate: Double, channelCount: Int) throws {
    let format = AudioFormat(
      sampleRate: Hertz(rate), channelCount: channelCount, positions: .mixed(to: channelCount))
    try check(.noise(amplitude: 0.2, seed: 7, format, frames: 5 * Int(rate) + 311))
  }

  @Test(arguments: [3, 4, 5, 7, 8])
  func `gives every channel the weight of its place`(channelCount: Int) throws {
    let format = AudioFormat(
      sampleRate: Hertz(16_000), channelCount: channelCount, positions: .mixed(to: channelCount))
    for loud in 0..<channelCount {
      var sound = TestSound.noise(amplitude: 0.01, format, frames: 32_000)
      sound.channels[loud] = sound.channels[loud].map { $0 * 30 }
      try check(sound)
    }
  }

  /// The fourth track of six was taken for low frequencies, and not heard.
  @Test(arguments: [4, 6, 8])
  func `counts every channel without a position alike`(channelCount: Int) throws {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: channelCount)
    let loudness = try (0..<channelCount).map { loud in
      var sound = TestSound.noise(amplitude: 0.2, format, frames: 96_000)
      let track = sound.channels[0]
      for channel in 0..<channelCount {
        sound.channels[channel] = channel == loud ? track : track.map { _ in 0 }
      }
      let meter = LevelMeter(format: format)
      sound.analysed(by: meter)
      return try #require(meter.finding().integratedLoudness)
    }
    #expect(loudness.allSatisfy { $0 == loudness[0] })
  }

  @Test func `counts mono for two speakers as the same sound in stereo`() throws {
    let mono = talk(AudioFormat(sampleRate: Hertz(48_000), channelCount: 1), seconds: 20)
    var stereo = TestSound.noise(
      AudioFormat(sampleRate: Hertz(48_000), channelCount: 2), frames: 0)
    stereo.channels = [mono.channels[0], mono.channels[0]]
    let library = try #require(LibraryLoudness(of: stereo))
    let theirs = try #require(library.integrated)
    for sound in [mono, stereo] {
      let meter = LevelMeter(format: sound.format, isDualMono: true)
      sound.analysed(by: meter)
      let ours = try #require(meter.finding().integratedLoudness)
      #expect(abs(ours.value - theirs.value) < 0.005)
    }
    let meter = LevelMeter(format: mono.format)
    mono.analysed(by: meter)
    let single = try #require(meter.finding().integratedLoudness)
    #expect(abs(theirs.value - single.value - 3.01) < 0.01)
  }

  @Test(arguments: [20.0, 38, 100, 1000, 1700, 5000, 15_000])
  func `agrees on tones from one end of hearing to the other`(frequency: Double) throws {
    let format = AudioFormat(sampleRate: Hertz(44_100), channelCount: 2)
    try check(.sine(Hertz(frequency), amplitude: 0.9, format, frames: 5 * 44_100))
  }

  @Test func `agrees on sound that rides on a direct current`() throws {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
    try check(TestSound.babble(amplitude: 0.05, format, frames: 240_000).map { $0 + 0.7 })
  }

  @Test func `agrees where the relative gate decides`() throws {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
    // Half a minute 9 LU below the rest counts, at 11 LU it does not.
    for level in [Float(0.35), 0.28] {
      let loud = TestSound.noise(amplitude: 0.5, format, frames: 480_000)
      var sound = loud
      sound.channels[0] += loud.channels[0].map { $0 * level }
      try check(sound)
    }
  }

  @Test(arguments: [0, 100, 19_199])
  func `less than 400 ms has no loudness`(frames: Int) throws {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
    let sound = TestSound.noise(format, frames: frames)
    let meter = LevelMeter(format: format)
    sound.analysed(by: meter)
    let levels = meter.finding()
    #expect(levels.integratedLoudness == nil && levels.loudnessRange == nil)
    #expect(try #require(LibraryLoudness(of: sound)).integrated == nil)
  }

  @Test func `400 ms have a loudness and no range`() throws {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
    let sound = TestSound.noise(amplitude: 0.2, format, frames: 19_200)
    try check(sound)
    let meter = LevelMeter(format: format)
    sound.analysed(by: meter)
    #expect(meter.finding().loudnessRange == Decibels(0))
  }
}
