import Audio
import TestSupport
import Testing

@Suite struct AnalyserTests {
  @Test func `the loudness meter keeps every promise`() throws {
    try checkAnalyserConformance { LoudnessMeter(format: $0) }
    try checkAnalyserConformance { LoudnessMeter(format: $0, includesPeaks: false) }
  }

  @Test func `the level meter keeps every promise`() throws {
    try checkAnalyserConformance { LevelMeter(format: $0) }
  }

  @Test func `the true-peak meter keeps every promise`() throws {
    try checkAnalyserConformance { TruePeakMeter(format: $0) }
  }

  @Test func `the state of three hours stays small`() throws {
    let format = AudioFormat(sampleRate: Hertz(8000), channelCount: 1)
    let minute = TestSound.babble(format, frames: 60 * 8000).buffer(0..<60 * 8000)
    let meter = LevelMeter(format: format)
    for _ in 0..<180 { meter.analyse(minute) }
    let snapshot = meter.snapshot
    #expect(snapshot.bytes.count > 108_000)
    #expect(snapshot.bytes.count < 1_500_000)
    let other = LevelMeter(format: format)
    try other.restore(snapshot)
    #expect(other.finding() == meter.finding())
  }
}
