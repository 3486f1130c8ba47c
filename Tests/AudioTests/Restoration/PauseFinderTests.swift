import Audio
import TestSupport
import Testing

@Suite struct PauseFinderTests {
  private static let mono = AudioFormat(sampleRate: Hertz(1000), channelCount: 1)

  private func finder(
    minimum: Double = 0.1, padding: Double = 0.02, _ format: AudioFormat = mono
  ) -> PauseFinder {
    PauseFinder(
      PauseFinder.Settings(
        threshold: Decibels(-20), minimum: Seconds(minimum), padding: Seconds(padding)),
      format: format)
  }

  /// Stretches of sound and of quiet in turn, beginning with sound.
  private func sound(_ lengths: [Int]) -> TestSound {
    let samples = lengths.enumerated().flatMap { index, length in
      (0..<length).map { index % 2 == 0 ? Float($0 % 2 == 0 ? 0.5 : -0.5) : 0.05 }
    }
    return TestSound(sampleRate: Hertz(1000), channels: [samples])
  }

  private func places(_ lengths: [Int], minimum: Double = 0.1, padding: Double = 0.02) -> [Int] {
    let finder = finder(minimum: minimum, padding: padding)
    sound(lengths).analysed(by: finder, cuts: [37])
    return finder.finding().map(\.count)
  }

  @Test func `keeps the promises of an analyser`() throws {
    try checkAnalyserConformance { format in
      PauseFinder(
        PauseFinder.Settings(
          threshold: Decibels(-10.6), minimum: Seconds(0.0005), padding: Seconds(0.0003)),
        format: format)
    }
  }

  @Test func `finds where sound begins again, a little before it`() {
    #expect(places([300, 200, 300, 150, 300]) == [480, 930])
  }

  @Test func `a pause is as long as the minimum, or longer`() {
    #expect(places([300, 99, 300]) == [])
    #expect(places([300, 100, 300]) == [380])
  }

  @Test func `silence at the beginning and at the end is no pause`() {
    #expect(places([0, 500, 300, 500]) == [])
  }

  @Test func `a padding beyond the pause is cut to it`() {
    #expect(places([300, 150, 300], padding: 5) == [300])
    #expect(places([300, 150, 300], padding: 0) == [450])
  }

  @Test func `a pause is one in all channels`() {
    let other = sound([400, 200, 200]).channels[0]
    let both = TestSound(
      sampleRate: Hertz(1000), channels: [sound([300, 250, 250]).channels[0], other])
    let finder = finder(AudioFormat(sampleRate: Hertz(1000), channelCount: 2))
    both.analysed(by: finder)
    #expect(finder.finding() == [Frames(530)])
  }

  @Test func `what is settled stays settled, and is never far behind`() {
    let sound = sound([300, 250, 5, 90, 5, 400, 100, 119, 3, 700])
    let finder = finder(padding: 0.05)
    var known = 0
    for frame in 0..<sound.frameCount.count {
      let settled = finder.settled
      finder.analyse(sound.buffer(frame..<frame + 1))
      for place in finder.finding().dropFirst(known) { #expect(place >= settled) }
      known = finder.finding().count
      #expect(finder.settled >= settled)
      #expect((finder.position - finder.settled).count <= 50)
    }
    #expect(known == 3)
  }
}
