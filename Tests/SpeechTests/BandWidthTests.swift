import Foundation
@testable import Speech
import Testing

@Suite("What a telephone carries") struct BandWidthTests {
  private static func tone(_ frequency: Double, _ amplitude: Double) -> [Double] {
    (0..<16_000).map { amplitude * sin(2 * .pi * frequency * Double($0) / 16_000) }
  }

  private static func sum(_ tones: [Double]...) -> [Int16] {
    (0..<16_000).map { index in Int16(tones.reduce(0) { $0 + $1[index] }.rounded()) }
  }

  @Test("is narrow, and what has a hiss above is not")
  func narrow() {
    let voice = Self.tone(440, 9000)
    let narrow = SilenceFloor.band(of: Self.sum(voice, Self.tone(3300, 3000)).span)
    #expect(narrow.isNarrow)
    #expect(abs(narrow.power / 45_000_000 - 1) < 0.02)
    #expect(!SilenceFloor.band(of: Self.sum(voice, Self.tone(6000, 60)).span).isNarrow)
    #expect(!SilenceFloor.band(of: [Int16](repeating: 0, count: 16_000).span).isNarrow)
    #expect(!SilenceFloor.band(of: [Int16]().span).isNarrow)
  }

  @Test("gets noise 35 dB below it, and other sound hardly any")
  func floor() {
    func noise(_ sound: [Int16]) -> Double {
      let noisy = SilenceFloor.under(sound.span)
      let squares = zip(noisy, sound).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
      return 10 * log10(squares / Double(sound.count))
    }
    let narrow = Self.sum(Self.tone(440, 9000))
    #expect(abs(noise(narrow) - (10 * log10(9000.0 * 9000 / 2) - 35)) < 0.5)
    #expect(noise(Self.sum(Self.tone(440, 9000), Self.tone(6000, 60))) < 15)
  }
}
