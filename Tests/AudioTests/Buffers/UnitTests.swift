import Audio
import Foundation
import Testing

@Suite("Quantities know their units")
struct UnitTests {
  @Test("decibels are twenty times the logarithm of an amplitude")
  func decibels() {
    #expect(Decibels(amplitude: 1) == Decibels(0))
    #expect(abs(Decibels(amplitude: 0.5).value + 6.0206) < 0.0001)
    #expect(abs(Decibels(20).amplitude - 10) < 1e-12)
    #expect(Decibels(amplitude: 0).value == -.infinity)
    #expect(Decibels(-.infinity).amplitude == 0)
    for level in stride(from: -120.0, through: 40, by: 0.37) {
      #expect(abs(Decibels(amplitude: Decibels(level).amplitude).value - level) < 1e-9)
    }
  }

  @Test(
    "seconds become the nearest frame, and frames become seconds",
    arguments: [8_000.0, 22_050, 44_100, 48_000, 96_000, 384_000])
  func frames(rate: Double) {
    let rate = Hertz(rate)
    #expect(Seconds(1).frames(at: rate) == Frames(Int(rate.value)))
    #expect(Seconds(1.4 / rate.value).frames(at: rate) == Frames(1))
    #expect(Seconds(1.6 / rate.value).frames(at: rate) == Frames(2))
    for count in [0, 1, 12_345, 4_000_000_000] {
      #expect(Frames(count).duration(at: rate).frames(at: rate) == Frames(count))
    }
  }

  @Test("are written as bare numbers")
  func text() throws {
    struct Figures: Codable, Equatable {
      var gain = Decibels(-1.5)
      var length = Frames(48_000)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let text = try encoder.encode(Figures())
    #expect(String(decoding: text, as: UTF8.self) == #"{"gain":-1.5,"length":48000}"#)
    #expect(try JSONDecoder().decode(Figures.self, from: text) == Figures())
  }

  @Test("a level over a limit is told with as many decimal places as it takes to show that")
  func excess() {
    #expect(Decibels(1.26).rounded(toShowBeyond: Decibels(0)) == 1.3)
    #expect(Decibels(0.04).rounded(toShowBeyond: Decibels(0)) == 0.04)
    #expect(Decibels(-0.996).rounded(toShowBeyond: Decibels(-1)) == -0.996)
    #expect(Decibels(0.000_4).rounded(toShowBeyond: Decibels(0)) == 0.000_4)
    #expect(Decibels(-3).rounded(toShowBeyond: Decibels(0)) == -3)
  }

  @Test("formats are told as people do")
  func formats() {
    #expect(AudioFormat(sampleRate: Hertz(48_000), channelCount: 2).description == "48 kHz stereo")
    #expect(AudioFormat(sampleRate: Hertz(44_100), channelCount: 1).description == "44.1 kHz mono")
    #expect(
      AudioFormat(sampleRate: Hertz(96_000), channelCount: 6).description == "96 kHz 6 channels")
  }
}
