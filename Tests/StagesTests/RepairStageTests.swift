import Audio
import Foundation
import PipelineEngine
import PipelineModel
import Platform
@testable import Stages
import Store
import TestSupport
import Testing

/// The stages that repair, and what they write down about it, in whole runs.
@Suite struct RepairStageTests {
  private static let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  /// Bursts with pauses of noise between them.
  private func voice(seconds: Int = 6) -> TestSound {
    var sound = TestSound.babble(amplitude: 0.3, Self.format, frames: seconds * 48_000)
    let noise = TestSound.noise(
      amplitude: 0.003, seed: 7, Self.format, frames: seconds * 48_000)
    for channel in 0...1 {
      for frame in sound.channels[channel].indices {
        if frame % 96_000 < 40_000 { sound.channels[channel][frame] = 0 }
        sound.channels[channel][frame] += noise.channels[channel][frame]
      }
    }
    return sound
  }

  private struct Run {
    let record: RunRecord
    let store: DiskStore
    let warnings: [String]
    let scratch: Workshop

    /// A step's figures.
    func figures(of step: String) throws -> [String: Any] {
      let outputs = try #require(record.steps.first { $0.id == StepID(step) }?.outputs)
      let artifact = try #require(outputs[.measurement]?.artifact)
      let bytes = try Data(contentsOf: URL(fileURLWithPath: store.path(of: artifact)))
      return try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
    }

    /// Whether the sound that the last step keeps has the bits of what came in.
    func isUntouched() throws -> Bool {
      let first = try #require(record.steps.first?.outputs[.sound])
      let last = try #require(record.steps.last?.outputs[.sound]?.artifact)
      return first.identity == last.digest
    }
  }

  private func run(_ stages: String, on sound: TestSound) throws -> Run {
    let workshop = try Workshop(sound)
    let store = try workshop.store("store")
    let recorder = EventCount()
    let record = try workshop.run(
      """
      pipeline: repair
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
      \(stages.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
      """, in: store, watching: recorder)
    return Run(record: record, store: store, warnings: recorder.warnings, scratch: workshop)
  }

  @Test func `dc subtracts what it measured, and leaves what is too little`() throws {
    var sound = voice()
    for frame in sound.channels[0].indices { sound.channels[0][frame] += 0.05 }
    let run = try run("- dc:\n- measure:", on: sound)
    let figures = try run.figures(of: "dc")
    let offsets = try #require(figures["offsets"] as? [Double])
    let subtracted = try #require(figures["subtracted"] as? [Double])
    #expect(abs(offsets[0] - 0.05) < 1e-3)
    #expect(subtracted[0] == offsets[0])
    let after = try #require(try run.figures(of: "measure")["offsets"] as? [Double])
    #expect(abs(after[0]) < 1e-8)
    let tiny = try self.run("- dc: -20 dB\n- gain: 0 dB\n  keep: true", on: voice())
    #expect(try tiny.isUntouched())
  }

  @Test func `dehum finds the hum and takes it out, and says where there is none`() throws {
    var sound = voice()
    let hum = TestSound.sine(Hertz(50.05), amplitude: 0.02, Self.format, frames: 288_000)
    let second = TestSound.sine(Hertz(150.15), amplitude: 0.01, Self.format, frames: 288_000)
    for channel in 0...1 {
      for frame in 0..<288_000 {
        sound.channels[channel][frame] += hum.channels[0][frame] + second.channels[0][frame]
      }
    }
    let humming = try run("- dehum:", on: sound)
    let found = try #require(try humming.figures(of: "dehum")["hum"] as? [String: Any])
    #expect(abs((found["frequency"] as? Double ?? 0) - 50.05) < 0.02)
    let notches = try #require(try humming.figures(of: "dehum")["notches"] as? [Double])
    #expect(notches.count >= 2 && notches.count <= 4)
    #expect(humming.warnings.isEmpty)

    let clean = try run("- dehum:\n- gain: 0 dB\n  keep: true", on: voice())
    #expect(clean.warnings == ["no hum was found, so the sound stays as it is"])
    #expect(try clean.isUntouched())
    let short = try run("- dehum:", on: voice(seconds: 1))
    #expect(short.warnings.count == 1 && short.warnings[0].contains("too short"))
    let told = try run("- dehum: { frequency: 60 Hz, harmonics: 3 }", on: voice(seconds: 1))
    #expect(told.warnings.isEmpty)
    #expect(try told.figures(of: "dehum")["notches"] as? [Double] == [60, 120, 180])
  }

  @Test func `denoise tells what it learnt, and where there was nothing`() throws {
    let noisy = try run("- denoise:", on: voice())
    let figures = try noisy.figures(of: "denoise")
    // Evenly spread noise within ±0.003.
    let expected = 20 * log10(0.003 / 3.0.squareRoot())
    #expect(abs((figures["noiseLevel"] as? Double ?? 0) - expected) < 0.5)
    #expect(noisy.warnings.isEmpty)

    let silence = try run(
      "- denoise:\n- gain: 0 dB\n  keep: true", on: .silence(Self.format, frames: 96_000))
    #expect(silence.warnings.count == 1 && silence.warnings[0].contains("stays as it is"))
    #expect(try silence.isUntouched())
    let steady = try run(
      "- denoise:", on: .noise(amplitude: 0.1, Self.format, frames: 96_000))
    #expect(steady.warnings.count == 1 && steady.warnings[0].contains("nowhere is it quiet"))
  }

  @Test func `gate, compressor, de-esser and declipper write down what they did`() throws {
    let run = try run(
      """
      - declip: -16.5 dB
      - gate: { threshold: -40 dB, look-ahead: 3 ms, link: 50 % }
      - deess: -40 dB
      - compress: { threshold: -30 dB, detector: rms, sidechain-highpass: 100 Hz, mix: 60 % }
      """, on: voice().map { min(max($0, -0.15), 0.15) })
    let mended = try run.figures(of: "declip")
    #expect((mended["mendedRuns"] as? Int ?? 0) > 10, "\(mended)")
    let open = try run.figures(of: "gate")["openShare"] as? Double ?? 0
    #expect(open > 0.3 && open < 0.75)
    #expect((try run.figures(of: "deess")["greatest"] as? Double ?? 0) > 0.5)
    #expect((try run.figures(of: "compress")["mean"] as? Double ?? 0) > 0.5)
  }

  @Test func `a de-esser whose band ends before it begins is refused`() {
    #expect(throws: (any Error).self) {
      try run("- deess: { low: 9 kHz, high: 5 kHz }", on: voice(seconds: 1))
    }
  }

  @Test(arguments: ["loudness: -16 LUFS", "peak: -1 dB"])
  func `normalize leaves silence as it is, and says so`(target: String) throws {
    let run = try run(
      "- normalize: { \(target) }\n- gain: 0 dB\n  keep: true",
      on: .silence(Self.format, frames: 96_000))
    #expect(run.warnings.count == 1 && run.warnings[0].contains("silent"))
    #expect(try run.isUntouched())
  }

  @Test func `normalize says why it leaves what is too quiet or too short`() throws {
    let quiet = try run(
      "- normalize: -16 LUFS\n- gain: 0 dB\n  keep: true",
      on: .noise(amplitude: 1e-5, Self.format, frames: 96_000))
    #expect(quiet.warnings.count == 1 && quiet.warnings[0].contains("-70 LUFS"))
    #expect(try quiet.isUntouched())
    let short = try run("- normalize: -16 LUFS", on: .noise(Self.format, frames: 9600))
    #expect(short.warnings.count == 1 && short.warnings[0].contains("400 ms"))
  }
}
