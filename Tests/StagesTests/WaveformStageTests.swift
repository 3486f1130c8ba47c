import Audio
import Foundation
import PipelineModel
@testable import Stages
import TestSupport
import Testing

@Suite struct WaveformStageTests {
  private func pipeline(_ parameters: String) -> String {
    """
    pipeline: look
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - waveform: { \(parameters) }
    """
  }

  /// The members that the format's description names, and ours.
  private struct Text: Decodable {
    let version: Int
    let channels: Int
    let sample_rate: Int
    let samples_per_pixel: Int
    let bits: Int
    let length: Int
    let data: [Int]
    let rms: [Int]
  }

  private func format(_ channelCount: Int, _ rate: Double = 44_100) -> AudioFormat {
    AudioFormat(sampleRate: Hertz(rate), channelCount: channelCount)
  }

  /// Noise on the grid of 16 bits, so that every decoder agrees on its samples.
  private func noise(_ format: AudioFormat, frames: Int) -> TestSound {
    TestSound.noise(amplitude: 0.8, format, frames: frames).map { ($0 * 32768).rounded() / 32768 }
  }

  @Test(arguments: [1, 2, 8], ["8", "16"])
  func `both forms of every level hold the lowest and highest samples that ffmpeg decodes`(
    channelCount: Int, bits: String
  ) throws {
    let workshop = try Workshop(noise(format(channelCount), frames: 30_011))
    let record = try workshop.run(
      pipeline("formats: [dat, json], samples-per-pixel: 100, levels: 3, bits: \(bits)"),
      in: workshop.store("store"))
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let decoded = try ffmpeg.run(["-v", "error", "-i", workshop.recording, "-f", "s16le", "-"])
    let samples = unsafe decoded.output.withUnsafeBytes {
      unsafe Array($0.bindMemory(to: Int16.self))
    }
    try #require(samples.count == 30_011 * channelCount)
    for (ending, scale) in [("waveform", 100), ("waveform-400", 400), ("waveform-1600", 1600)] {
      let text = try JSONDecoder().decode(Text.self, from: Data(record.bytes("\(ending).json")))
      let length = (30_011 + scale - 1) / scale
      #expect(text.version == 2 && text.channels == channelCount && text.sample_rate == 44_100)
      #expect(text.samples_per_pixel == scale && "\(text.bits)" == bits && text.length == length)
      var expected: [Int] = []
      var energies: [Double] = []
      for point in 0..<length {
        for channel in 0..<channelCount {
          let part = (point * scale..<min((point + 1) * scale, 30_011)).map {
            Int(samples[$0 * channelCount + channel])
          }
          expected += [part.min() ?? 0, part.max() ?? 0].map { bits == "8" ? $0 / 256 : $0 }
          let sum = part.reduce(0.0) { $0 + Double($1 * $1) }
          energies.append((sum / Double(part.count)).squareRoot() / (bits == "8" ? 256 : 1))
        }
      }
      #expect(text.data == expected)
      #expect(zip(text.rms, energies).allSatisfy { abs(Double($0) - $1) <= 1 })
      #expect(text.rms.count == energies.count)

      let binary = try record.bytes("\(ending).dat")
      func number(_ offset: Int) -> Int {
        binary[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | Int($1) }
      }
      #expect(
        [0, 4, 8, 12, 16, 20].map(number)
          == [2, bits == "8" ? 1 : 0, 44_100, scale, length, channelCount])
      let values =
        bits == "8"
        ? binary.dropFirst(24).map { Int(Int8(bitPattern: $0)) }
        : stride(from: 24, to: binary.count, by: 2).map {
          Int(Int16(bitPattern: UInt16(binary[$0]) | UInt16(binary[$0 + 1]) << 8))
        }
      #expect(values == expected)
    }
  }

  @Test func `a picture shows the extent in one colour and the mean square in another`() throws {
    // Half of full scale in every sample: extent and mean square reach just as far.
    let half = try Workshop(.square(half: 20, amplitude: 0.5, format(1), frames: 44_100))
    let picture = try Picture(
      half.run(pipeline("formats: png"), in: half.store("store")).path("waveform.png"))
    #expect(picture.width == 1600 && picture.height == 400)
    // The only lane lies from 12 to 370, half of full scale 89.5 from its middle at 191.
    for x in [60, 400, 1000, 1580] {
      #expect((104...277).allSatisfy { picture[x, $0] == 0x2f6690 }, "column \(x)")
      #expect((15...98).allSatisfy { picture[x, $0] != 0x2f6690 && picture[x, $0] != 0x93b7d1 })
      #expect((285...365).allSatisfy { picture[x, $0] != 0x2f6690 && picture[x, $0] != 0x93b7d1 })
    }
    // A sine's mean square lies 3 dB below its peak: at 0.707 of the way.
    let sine = try Workshop(.sine(Hertz(441), format(2), frames: 88_200))
    let two = try Picture(
      sine.run(pipeline("formats: png, height: 408"), in: sine.store("store")).path(".png"))
    let (middle, reach) = (12 + 89.5, 89.5)
    for (share, colour) in [(0.5, 0x2f6690), (0.68, 0x2f6690), (0.74, 0x93b7d1), (0.97, 0x93b7d1)] {
      for side in [-1.0, 1] {
        #expect(two[777, Int(middle + side * share * reach)] == colour, "\(side * share)")
      }
    }
  }

  @Test func `silence is a thin line`() throws {
    let workshop = try Workshop(.silence(format(1), frames: 22_050))
    let record = try workshop.run(pipeline(""), in: workshop.store("store"))
    let picture = try Picture(record.path("waveform.png"))
    let dark = (0..<400).filter { picture[801, $0] == 0x2f6690 || picture[801, $0] == 0x93b7d1 }
    #expect(dark.count <= 2)
    #expect((189...193).contains { picture.brightness(801, $0) < 600 })
    let text = try JSONDecoder().decode(Text.self, from: Data(record.bytes("waveform.json")))
    #expect(Set(text.data + text.rms) == [0])
  }

  @Test(arguments: [
    (1, 44_100.0, 1), (8, 8000, 1), (8, 48_000, 20_000), (1, 192_000, 50_000), (2, 44_100, 257),
  ])
  func `any recording has a waveform`(channelCount: Int, rate: Double, frames: Int) throws {
    let sound = noise(format(channelCount, rate), frames: frames)
    let workshop = try Workshop(sound)
    let record = try workshop.run(
      pipeline("width: 500, height: 200, levels: 6"), in: workshop.store("store"))
    #expect(record.published.count == 2 * 6 + 2)
    let text = try JSONDecoder().decode(Text.self, from: Data(record.bytes("waveform.json")))
    #expect(text.length == (frames + 255) / 256 && text.channels == channelCount)
    #expect(text.data.count == 2 * channelCount * text.length)
    let coarsest = try JSONDecoder().decode(
      Text.self, from: Data(record.bytes("waveform-262144.json")))
    #expect(coarsest.length == 1)
    for channel in 0..<channelCount {
      let extent = [sound.channels[channel].min() ?? 0, sound.channels[channel].max() ?? 0]
      #expect(
        Array(coarsest.data[2 * channel...2 * channel + 1])
          == extent.map { Int($0 * 32768) / 256 })
    }
    let picture = try Picture(record.path(".png"))
    #expect(picture.width == 500 && picture.height == 200)
  }

  @Test func `a second waveform of one recording takes another name`() throws {
    let workshop = try Workshop(noise(format(1), frames: 4000))
    let both = """
      pipeline: look
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - waveform: dat
        - gain: -6 dB
        - waveform: { formats: dat, name: "{stem}-after" }
      """
    let record = try workshop.run(both, in: workshop.store("store"))
    #expect(
      record.published.map { $0.path.split(separator: "/").last ?? "" }.filter {
        !$0.contains("waveform-")
      } == ["recording.waveform.dat", "recording-after.waveform.dat"])
  }
}
