import Audio
import Foundation
@testable import PipelineEngine
import PipelineModel
import Platform
@testable import Stages
import Store
import TestSupport
import Testing

@Suite struct AssertStageTests {
  private let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private static func pipeline(_ facts: String, _ more: String = "") -> String {
    """
    pipeline: checked
    inputs: { note: sound }
    stages:
      - decode: { from: $note }
      - assert: { \(facts) }
    \(more)
    """
  }

  /// The error of a run; nil if it succeeded.
  private func failure(of facts: String, on sound: TestSound) throws -> SpoolError? {
    let workshop = try Workshop(sound)
    do {
      _ = try workshop.run(Self.pipeline(facts), in: workshop.store("store"))
      return nil
    } catch let error as RunError {
      #expect(error.step == StepID("assert"))
      return error.error
    }
  }

  // EBU Tech 3341, test 1: a stereo sine of 1 kHz at −23 dBFS has −23 LUFS.
  private var tone: TestSound {
    .sine(Hertz(1000), amplitude: Decibels(-23).amplitude, format, frames: 5 * 48_000)
  }

  @Test(arguments: [
    "loudness: -23 LUFS ± 0.1", "true-peak: -23.1 dBTP .. -22.9 dBTP", "duration: 5 s",
    "duration: 4 s .. 6 s", "silence: 0 %", "clipped: 0", "channels: 2", "sample-rate: 48 kHz",
    "loudness: .. -22 LUFS, true-peak: .. -1 dBTP, clipped: 0, channels: 1 .. 2",
    // Tenths count: the peak is at -22.998 or -23.002.
    "true-peak: .. -23 dBTP", "true-peak: -23 dBTP ..",
  ])
  func `a fact that holds lets the run pass`(facts: String) throws {
    #expect(try failure(of: facts, on: tone) == nil)
  }

  @Test(arguments: [
    ("loudness: -16 LUFS ± 0.5", "loudness is -23 LUFS, -16.5 LUFS .. -15.5 LUFS is allowed"),
    ("loudness: \"> -22 LUFS\"", "loudness is -23 LUFS, > -22 LUFS is allowed"),
    ("true-peak: .. -24 dBTP", "true-peak is -23 dBTP, .. -24 dBTP is allowed"),
    ("duration: < 5 s", "duration is 5 s, < 5 s is allowed"),
    ("silence: 10 % ..", "silence is 0 %, 10 % .. is allowed"),
    ("channels: 1", "channels is 2, 1 is allowed"),
    ("sample-rate: 44.1 kHz", "sample-rate is 48 kHz, 44.1 kHz is allowed"),
    ("snr: 20 dB ..", "snr is not measurable, 20 dB .. is allowed"),
  ])
  func `a broken fact fails with its value and its range`(facts: String, reason: String) throws {
    let error = try #require(try failure(of: facts, on: tone))
    let name = facts.prefix { $0 != ":" }
    #expect(error.message == "\(name) is out of bounds")
    #expect(error.reason?.hasPrefix(reason) == true, "\(error.reason ?? "")")
    #expect(error.advice?.contains("spool stages assert") == true)
    // A repeat with the same recording cannot succeed.
    #expect(error.cause == .input)
  }

  @Test func `all broken facts are reported at once`() throws {
    let error = try #require(
      try failure(of: "loudness: -16 LUFS ± 0.5, clipped: 0, channels: 1", on: tone))
    #expect(error.message == "loudness, channels are out of bounds")
    #expect(error.reason?.contains("; channels is 2, 1 is allowed") == true)
  }

  @Test func `several steps that fail together are reported as one`() throws {
    let workshop = try Workshop(tone)
    let pipeline = Self.pipeline("channels: 1", "  - assert: { duration: .. 1 s }")
    do {
      _ = try workshop.run(pipeline, in: workshop.store("store"))
      Issue.record("nothing failed")
    } catch let error as RunError {
      #expect(
        error.error.account == "channels is out of bounds: channels is 2, 1 is allowed; "
          + "assert-2: duration is out of bounds: duration is 5 s, .. 1 s is allowed")
    }
  }

  @Test func `a value just beyond an end is shown with the digits that tell`() throws {
    let sound = TestSound.sine(Hertz(1000), amplitude: 0.1, format, frames: 48_001)
    let error = try #require(try failure(of: "duration: .. 1 s", on: sound))
    #expect(error.reason == "duration is 1.00002 s, .. 1 s is allowed")
  }

  @Test func `clipped samples are counted`() throws {
    var sound = tone
    for frame in 1000..<1007 { sound.channels[0][frame] = 1 }
    let error = try #require(try failure(of: "clipped: 0", on: sound))
    #expect(error.reason == "clipped is 7, 0 is allowed")
    #expect(try failure(of: "clipped: 7", on: sound) == nil)
  }

  @Test func `the share of silence is that of the definition in the step`() throws {
    var sound = tone
    // 1 s of 5, at −63 dBFS.
    for channel in 0...1 {
      for frame in 96_000..<144_000 { sound.channels[channel][frame] *= 0.01 }
    }
    #expect(try failure(of: "silence: 20 % ± 0.1", on: sound) == nil)
    let error = try #require(try failure(of: "silence: < 15 %", on: sound))
    #expect(error.reason == "silence is 20 %, < 15 % is allowed")
    #expect(try failure(of: "silence: 0 %, silence-threshold: -70 dB", on: sound) == nil)
    #expect(try failure(of: "silence: 0 %, silence-minimum: 2 s", on: sound) == nil)
  }

  // Real speech, with white noise so that the powers have a known ratio. The noise in its own pauses
  // is 30 dB below it; the tolerance is that and the chance in the quietest 0.4 s.
  @Test(arguments: [5.0, 10, 20])
  func `speech in noise has the ratio that it was mixed with, to 1 dB`(ratio: Double) throws {
    let stereo = try Reference.floats(of: PackageFiles.sample("take.flac"))
    let samples = stride(from: 0, to: stereo.count, by: 2).map { stereo[$0] }
    let rate = Hertz(44_100)
    let power = samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count)
    let amplitude = Float((3 * power / pow(10, ratio / 10)).squareRoot())
    let mono = AudioFormat(sampleRate: rate, channelCount: 1)
    let noise = TestSound.noise(amplitude: amplitude, seed: 5, mono, frames: samples.count)
    let sound = TestSound(
      sampleRate: rate, channels: [zip(samples, noise.channels[0]).map { $0 + $1 }])
    let broken = try #require(try failure(of: "snr: 100 dB ..", on: sound)?.reason)
    let found = try #require(broken.firstMatch(of: /snr is (-?[\d.]+) dB/)?.output.1)
    #expect(abs(try #require(Double(found)) - ratio) < 1, "\(broken)")
    #expect(try failure(of: "snr: \(ratio - 1) dB ..", on: sound) == nil)
  }

  @Test func `figures of a failed run stay, and the next run fails without measuring again`() throws
  {
    let workshop = try Workshop(tone)
    let store = try workshop.store("store")
    let pipeline = Self.pipeline("loudness: -16 LUFS ± 0.5", "  - export: wav")
    let first = EventCount()
    #expect(throws: RunError.self) { try workshop.run(pipeline, in: store, watching: first) }
    let record = try #require(try store.runs.run(named: "run"))
    let step = try #require(record.steps.first { $0.id == StepID("assert") })
    #expect(step.outcome == .failed && record.state == .failed && record.published.isEmpty)
    let facts = step.foundValue?["facts"]
    #expect(facts?.list?.first?["measured"]?.text == "-23 LUFS", "\(step.findings ?? "")")
    #expect(step.foundValue?["holds"] == .boolean(false))
    let second = EventCount()
    #expect(throws: RunError.self) { try workshop.run(pipeline, in: store, watching: second) }
    #expect(first.count > 0 && second.count == 0)
  }

  @Test func `what only warns tells so once in every run, and a wider range measures again`() throws
  {
    let workshop = try Workshop(tone)
    let store = try workshop.store("store")
    func run(_ facts: String) throws -> (RunRecord, EventCount) {
      let watch = EventCount()
      return (try workshop.run(Self.pipeline(facts), in: store, watching: watch), watch)
    }
    let warning = "out of bounds: loudness is -23 LUFS, -16.5 LUFS .. -15.5 LUFS is allowed"
    for _ in 1...2 {
      let (record, watch) = try run("loudness: -16 LUFS ± 0.5, out-of-bounds: warn")
      #expect(record.state == .done && watch.warnings == [warning])
    }
    // What follows from a broken fact is in no key.
    #expect(throws: RunError.self) { try run("loudness: -16 LUFS ± 0.5") }
    let (wide, watch) = try run("loudness: -16 LUFS ± 8, out-of-bounds: warn")
    #expect(wide.steps.last?.outcome == .made && watch.warnings.isEmpty)
  }

  @Test func `quarantine fails with that word, unless a person has accepted the recording`() throws
  {
    let error = try #require(
      try failure(of: "clipped: 1 .., out-of-bounds: quarantine", on: tone))
    #expect(error.message == "clipped is out of bounds, which calls for quarantine")
  }

  @Test func `a pass that was stopped anywhere gives the same facts in the end`() throws {
    let pipeline = Self.pipeline(
      "loudness: -16 LUFS ± 0.5, silence: 0 %, snr: 60 dB .., clipped: 0, out-of-bounds: warn")
    let workshop = try Workshop(.babble(format, frames: 720_000))
    let undisturbed = EventCount()
    let expected = try workshop.run(
      pipeline, in: workshop.store("expected"), watching: undisturbed)
    var stops = 0
    for limit in stride(from: 1, to: undisturbed.count, by: max(1, undisturbed.count / 4)) {
      let store = try workshop.store("stopped-\(limit)")
      var record: RunRecord?
      var attempt = 1
      while record == nil {
        do {
          record = try workshop.run(
            pipeline, in: store, watching: EventCount(stoppingAt: limit * attempt))
        } catch {
          #expect((error as? RunError)?.error.cause == .cancelled, "\(error)")
          stops += 1
          attempt += 1
        }
      }
      #expect(record?.steps.map(\.outputs) == expected.steps.map(\.outputs))
      #expect(record?.steps.map(\.findings) == expected.steps.map(\.findings))
    }
    #expect(stops > 3)
  }

  @Test(arguments: [
    ("{}", ["assert states nothing that must hold"]),
    ("{ loudnes: -16 LUFS ± 1 }", ["\"loudnes\" is not a parameter of assert"]),
    (
      "{ loudness: -16 LUFS }",
      ["loudness of assert is never exactly -16 LUFS"]
    ),
    (
      "{ loudness: -16 dB, true-peak: -1 dBTP, clipped: few, out-of-bounds: warm }",
      [
        "loudness of assert takes LUFS, not \"dB\"",
        "true-peak of assert is never exactly -1 dBTP",
        "clipped of assert is a whole number, not \"few\"",
        "out-of-bounds of assert cannot be \"warm\"",
      ]
    ),
    ("{ untimed-words: 0 }", ["assert has nothing to take its transcript from"]),
    ("{ size: .. 5 MB }", ["assert has nothing to take its files from"]),
  ])
  func `what is wrong with the facts is said before any work, all at once`(
    parameters: String, messages: [String]
  ) {
    let text = """
      pipeline: checked
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - assert: \(parameters)
      """
    let parsed = ParsedPipeline(text, knownKinds: StageCatalog.builtIn.kinds)
    var found: [String] = []
    if let definition = parsed.definition {
      do {
        _ = try Plan(definition, catalog: .builtIn, inputs: ["note": "/note.wav"])
      } catch { found = error.problems.map(\.message) }
    }
    #expect(found == messages)
  }
}
