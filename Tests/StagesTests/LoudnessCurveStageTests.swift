import Audio
import Foundation
import PipelineModel
@testable import Stages
import TestSupport
import Testing

@Suite final class LoudnessCurveStageTests {
  // What a run wrote is there as long as its workshop is.
  private var workshops: [Workshop] = []

  private static let pipeline = """
    pipeline: look
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - loudness-curve: {}
    """

  private struct Text: Decodable {
    let stepSeconds: Double
    let integratedLoudness: Double?
    let maximumMomentary: Double?
    let maximumShortTerm: Double?
    let momentary: [Double?]
    let shortTerm: [Double?]
  }

  private let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func run(_ sound: TestSound) throws -> RunRecord {
    let workshop = try Workshop(sound)
    workshops.append(workshop)
    return try workshop.run(Self.pipeline, in: workshop.store("store"))
  }

  private func text(_ record: RunRecord) throws -> Text {
    try JSONDecoder().decode(Text.self, from: Data(record.bytes("loudness.json")))
  }

  // EBU Tech 3341, test 1: a stereo sine of 1 kHz at −23 dBFS has −23 LUFS in every window.
  @Test func `a sine of minus 23 dBFS has minus 23 LUFS`() throws {
    let sound = TestSound.sine(
      Hertz(1000), amplitude: Decibels(-23).amplitude, format, frames: 5 * 48_000)
    let text = try text(run(sound))
    #expect(text.stepSeconds == 0.1)
    #expect(text.momentary.count == 50 && text.shortTerm.count == 50)
    #expect(text.momentary.prefix(3).allSatisfy { $0 == nil })
    #expect(text.shortTerm.prefix(29).allSatisfy { $0 == nil })
    for figure in text.momentary.dropFirst(3) + text.shortTerm.dropFirst(29) {
      #expect(abs(try #require(figure) + 23) <= 0.05)
    }
  }

  @Test func `every figure is the one that ffmpeg's ebur128 filter gives`() throws {
    let workshop = try Workshop(.babble(format, frames: 9 * 48_000))
    let text = try text(workshop.run(Self.pipeline, in: workshop.store("store")))
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    func figures(_ key: String) throws -> [Double] {
      let result = try ffmpeg.run([
        "-v", "error", "-i", workshop.recording, "-af",
        "ebur128=metadata=1,ametadata=print:key=lavfi.r128.\(key):file=-", "-f", "null", "-",
      ])
      return result.text.split(separator: "\n").compactMap {
        $0.hasPrefix("lavfi.r128.\(key)=") ? Double($0.split(separator: "=")[1]) : nil
      }
    }
    for (key, ours, windowSteps) in [("M", text.momentary, 4), ("S", text.shortTerm, 30)] {
      let theirs = try figures(key)
      try #require(theirs.count == ours.count)
      for index in ours.indices where index + 1 >= windowSteps {
        #expect(abs(try #require(ours[index]) - theirs[index]) <= 0.02, "\(key) \(index)")
      }
    }
  }

  @Test func `the table has the same figures with the times at their ends`() throws {
    let sound = TestSound.babble(
      AudioFormat(sampleRate: Hertz(11_025), channelCount: 1), frames: 4 * 11_025)
    let record = try run(sound)
    let text = try text(record)
    let lines = String(decoding: try record.bytes("loudness.csv"), as: UTF8.self)
      .split(separator: "\n")
    #expect(lines.first == "seconds,momentary_lufs,short_term_lufs")
    #expect(lines.count == text.momentary.count + 1)
    for (index, line) in lines.dropFirst().enumerated() {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false)
      // A tenth of a second is no whole number of frames at this rate: 1103 of them are a step.
      #expect(abs((Double(fields[0]) ?? 0) - Double(index + 1) * 1103 / 11_025) < 0.000_6)
      #expect(Double(fields[1]) == text.momentary[index])
      #expect(Double(fields[2]) == text.shortTerm[index])
    }
  }

  @Test func `silence has no figures, and a sound that ends has them as long as it is heard`()
    throws
  {
    let silent = try text(run(.silence(format, frames: 4 * 48_000)))
    #expect(silent.integratedLoudness == nil && silent.maximumMomentary == nil)
    #expect((silent.momentary + silent.shortTerm).allSatisfy { $0 == nil })
    #expect(silent.momentary.count == 40)
    let short = try run(.noise(format, frames: 1))
    #expect(try text(short).momentary.isEmpty)
    #expect(String(decoding: try short.bytes("loudness.csv"), as: UTF8.self).count < 50)
    #expect(try Picture(short.path("loudness.png")).width == 1600)
  }

  @Test func `the picture has the integrated loudness as a line across`() throws {
    let sound = TestSound.sine(
      Hertz(1000), amplitude: Decibels(-30).amplitude, format, frames: 5 * 48_000)
    let picture = try Picture(run(sound).path("loudness.png"))
    // −60 to 0 LUFS lie between 370 and 12: half-way is 191.
    let rows = (12..<370).filter { picture[1490, $0] != 0xf2f4f5 && picture[1490, $0] != 0xdde2e6 }
    #expect(rows.allSatisfy { (188...193).contains($0) } && !rows.isEmpty)
  }
}
