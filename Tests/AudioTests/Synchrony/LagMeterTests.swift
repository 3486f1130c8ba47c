import Audio
import TestSupport
import Testing

@Suite struct LagMeterTests {
  private static let format = BandPatternMeter.format

  private func lag(_ a: [Float], _ b: [Float]) -> LagMeter.Finding? {
    let meter = LagMeter()
    for piece in 0..<12 {
      let start = piece * LagMeter.pieceDistance
      let range = start..<start + LagMeter.pieceLength
      meter.add(a[range], b[range])
    }
    return meter.finish()
  }

  @Test(arguments: [0.0, 0.25, -17.4, 333.3, -998.5])
  func `a lag is found to a tenth of a sample, through noise and another microphone`(
    samples: Double
  ) throws {
    let event = Event(seconds: 5, seed: 3)
    let a = event.heard(Self.format, seconds: 4, noise: 0.01, seed: 5) { $0 + 0.5 }
    let b = event.heard(
      Self.format, seconds: 4, tilt: 4, gain: -0.2, noise: 0.05, seed: 6
    ) { $0 + 0.5 + samples / 16_000 }
    let found = try #require(lag(a.channels[0], b.channels[0]))
    #expect(abs(found.lag - samples) < 0.1, "\(found)")
    #expect(found.quality > 7, "\(found)")
  }

  @Test func `sounds with nothing in common have no clear lag`() throws {
    let a = Event(seconds: 5, seed: 3).heard(Self.format, seconds: 4, noise: 0.02, seed: 5) { $0 }
    let b = Event(seconds: 5, seed: 4).heard(Self.format, seconds: 4, noise: 0.02, seed: 6) { $0 }
    let found = try #require(lag(a.channels[0], b.channels[0]))
    #expect(found.quality < 7, "\(found)")
  }

  @Test func `silence has no lag`() {
    let silence = [Float](repeating: 0, count: 64_000)
    #expect(lag(silence, silence) == nil)
  }
}
