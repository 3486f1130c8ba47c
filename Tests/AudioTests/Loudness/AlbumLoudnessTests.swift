import Audio
import TestSupport
import Testing

/// The loudness of several recordings together, against libebur128's.
@Suite struct AlbumLoudnessTests {
  /// Recordings of different length, rate, loudness and number of channels.
  private static let recordings: [TestSound] = [
    .babble(AudioFormat(sampleRate: Hertz(48_000), channelCount: 2), frames: 48_000 * 7),
    .noise(
      amplitude: 0.02, AudioFormat(sampleRate: Hertz(44_100), channelCount: 1), frames: 90_000),
    .sine(
      Hertz(440), amplitude: 0.4,
      AudioFormat(sampleRate: Hertz(96_000), channelCount: 6, positions: .surround51),
      frames: 200_000),
    .noise(
      amplitude: 0.0005, AudioFormat(sampleRate: Hertz(48_000), channelCount: 2), frames: 300_000),
    .silence(AudioFormat(sampleRate: Hertz(48_000), channelCount: 2), frames: 100_000),
  ]

  private func history(of sound: TestSound) -> LoudnessHistory {
    let meter = LoudnessMeter(format: sound.format, includesPeaks: false)
    sound.analysed(by: meter)
    return meter.history
  }

  @Test(arguments: [[0, 1], [1, 0], [0, 1, 2], [3, 2, 1, 0], [0, 1, 2, 3, 4], [3], [4, 3]])
  func `is that of libebur128, whatever the recordings`(places: [Int]) throws {
    let sounds = places.map { Self.recordings[$0] }
    let ours = try #require(LoudnessHistory.integrated(sounds.map { history(of: $0) }))
    let theirs = try #require(LibraryLoudness.integrated(of: sounds))
    #expect(abs(ours.value - theirs.value) < 0.005, "\(ours.value), \(theirs.value) LUFS")
  }

  /// Loud, and mostly quieter than -70 LUFS.
  private static func faint(loud: Float) -> TestSound {
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 1)
    let (high, low) = (TestSound.noise(amplitude: loud, format, frames: 48_000 * 20), Float(0.4))
    return TestSound(format, frames: 48_000 * 20) { _, frame in
      high.channels[0][frame] * (frame % 192_000 < 48_000 ? 1 : low)
    }
  }

  @Test(arguments: [(Float(0.0007), -16.0), (0.0007, -60), (0.02, -65), (0.5, -16)])
  func `is reached by a gain that lifts other parts over the gate`(loud: Float, wanted: Double)
    throws
  {
    let sound = Self.faint(loud: loud)
    let history = history(of: sound)
    let gain = try #require(LoudnessHistory.gain(of: [history], reaching: LUFS(wanted)))
    let theirs = try #require(
      LibraryLoudness.integrated(of: [sound.processed(by: Gain(gain, format: sound.format))]))
    #expect(abs(theirs.value - wanted) < 0.01, "\(theirs.value) LUFS behind \(gain.value) dB")
    let reached = try #require(history.integrated(behind: gain))
    #expect(abs(reached.value - theirs.value) < 0.005)
  }

  @Test func `is reached by no gain where all that counts ends below the gate`() {
    let history = history(of: Self.faint(loud: 0.01))
    #expect(LoudnessHistory.gain(of: [history], reaching: LUFS(-75)) == nil)
    #expect(LoudnessHistory.gain(of: [], reaching: LUFS(-16)) == nil)
  }

  @Test func `silence has none, and neither has nothing`() {
    #expect(LoudnessHistory.integrated([history(of: Self.recordings[4])]) == nil)
    #expect(LoudnessHistory.integrated([]) == nil)
  }

  @Test func `a survey keeps the promises of an analyser, behind a limiter too`() throws {
    try checkAnalyserConformance { LoudnessSurveyMeter(format: $0) }
    try checkAnalyserConformance {
      LoudnessSurveyMeter(
        behind: Limiter(Limiter.Settings(ceiling: Decibels(-9)), format: $0), format: $0)
    }
  }

  @Test func `a survey behind a gain finds what comes out of it`() throws {
    let sound = Self.recordings[0]
    let gain = Gain(Decibels(-6), format: sound.format)
    let meter = LoudnessSurveyMeter(behind: gain, format: sound.format)
    sound.analysed(by: meter)
    let found = try #require(meter.finding().history.integrated())
    let before = try #require(history(of: sound).integrated())
    #expect(abs(found.value - before.value + 6) < 0.0001)
  }
}
