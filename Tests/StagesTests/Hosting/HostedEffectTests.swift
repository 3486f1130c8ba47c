import Audio
import Foundation
import PipelineModel
import Platform
import Plugins
@testable import Stages
import SoundEngine
import TestSupport
import Testing

@Suite("A plugin of LADSPA, hosted in a process of its own")
struct HostedEffectTests {
  private static let stereo = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)

  private func noise(_ frames: Int, _ channelCount: Int = 2) -> TestSound {
    .noise(
      amplitude: 0.5, AudioFormat(sampleRate: Hertz(48_000), channelCount: channelCount),
      frames: frames)
  }

  private func message(_ settings: String) throws -> String {
    let error = try #require(throws: SpoolError.self) { try EffectTrial("ladspa", settings) }
    return "\(error.message): \(error.reason ?? "")"
  }

  @Test(
    "latency is cut off at the head and flushed at the tail, for each channel",
    arguments: [1, 2, 3])
  func latency(channels: Int) throws {
    let fixture = try LADSPAFixture()
    let sound = noise(20_011, channels)
    let trial = try EffectTrial("ladspa", "{ library: \(fixture.path), label: delay }")
    #expect(try trial.result(of: sound) == sound)
  }

  @Test func `a label may be a URL, whose colons do not end the library`() throws {
    let fixture = try LADSPAFixture()
    let sound = noise(5000)
    let trial = try EffectTrial(
      "ladspa", "{ library: \(fixture.path), label: \"http://example.org/fixture:delay\" }")
    #expect(try trial.result(of: sound) == sound)
  }

  @Test("a control is set by name, by symbol or by number", arguments: ["Gain", "gain", "1"])
  func control(name: String) throws {
    let fixture = try LADSPAFixture()
    let sound = noise(5000)
    let trial = try EffectTrial(
      "ladspa", "{ library: \(fixture.path), label: delay, controls: { \(name): 0.5 } }")
    #expect(try trial.result(of: sound) == sound.map { $0 / 2 })
  }

  @Test func `blocks have one length, however the sound arrives`() throws {
    let fixture = try LADSPAFixture()
    let trial = try EffectTrial("ladspa", "{ library: \(fixture.path), label: length }")
    let expected = TestSound.constant(1024 / 65_536, Self.stereo, frames: 20_011)
    for cuts in [[4096], [1, 700, 9001], [20_011]] {
      #expect(try trial.result(of: noise(20_011), cuts: cuts) == expected)
    }
  }

  @Test func `a plugin that crashes is a failed stage, and what it was is said`() throws {
    let fixture = try LADSPAFixture()
    let trial = try EffectTrial("ladspa", "{ library: \(fixture.path), label: crash }")
    let error = try #require(throws: SpoolError.self) { try trial.result(of: noise(100_000)) }
    #expect(
      error.message.contains("\(fixture.path):crash") || error.message.contains("fixture:crash"))
    #expect(error.reason?.contains("crashed (Segmentation fault)") == true, "\(error)")
    #expect(error.advice?.contains("spool stages") == true)
    // A short sound never gets there.
    #expect(try trial.result(of: noise(5000)) == noise(5000))
  }

  @Test func `a library that crashes when it is looked at ends nothing but the look`() throws {
    let fixture = try LADSPAFixture("CRASH_EARLY")
    #expect(
      try message("{ library: \(fixture.path), label: delay }").contains("crashed (Aborted)"))
  }

  @Test func `a library that crashes is named in the list, and the others are listed`() throws {
    let (good, bad) = (try LADSPAFixture("TALKATIVE"), try LADSPAFixture("CRASH_EARLY"))
    let endless = try LADSPAFixture("ENDLESS")
    let folders = [good, bad, endless].map { $0.path.replacing("/fixture.so", with: "") }
    let registry = EffectRegistry(
      launcher: try SpoolProgram.program.path,
      environment: ["LADSPA_PATH": folders.joined(separator: ":")])
    let catalog = try registry.catalog(.ladspa)
    #expect(catalog.entries.contains { $0.identity == "fixture:delay" })
    #expect(catalog.flaws.count == 2)
    let crash = try #require(catalog.flaws.first { $0.hasPrefix("\(bad.path): it crashed (Abort") })
    // What another library said is none of its words.
    #expect(!crash.contains("talkative"), "\(crash)")
    #expect(catalog.flaws.contains { $0.hasPrefix("\(endless.path): ") && $0.contains("no end") })
  }

  @Test func `a latency that is no number is refused`() throws {
    let fixture = try LADSPAFixture()
    let trial = try EffectTrial("ladspa", "{ library: \(fixture.path), label: lie }")
    let error = try #require(throws: SpoolError.self) { try trial.result(of: noise(100)) }
    #expect(error.message.contains("latency"))
  }

  @Test func `a meter lets the sound through, and what it shows is the measurement`() throws {
    let fixture = try LADSPAFixture()
    let sound = noise(20_011)
    let trial = try EffectTrial("ladspa", "{ library: \(fixture.path), label: peak }")
    let processor = try trial.stage.makeProcessor(for: sound.format)
    #expect(sound.processed(by: processor, cuts: [4096]) == sound)
    let figures = try #require((processor as? PluginProcessor)?.figures)
    let peaks = sound.channels.map { $0.map(abs).max() ?? 0 }
    struct Figures: Decodable { let meters: [[String: Float]] }
    let read = try JSONDecoder().decode(Figures.self, from: Data(figures.utf8))
    #expect(read.meters.compactMap { $0["peak"] } == peaks)
  }

  @Test func `sound far above full scale is warned of, and refused when no effect can mean it`()
    throws
  {
    let fixture = try LADSPAFixture()
    let sound = noise(5000)
    func trial(_ gain: Double) throws -> EffectTrial {
      try EffectTrial(
        "ladspa", "{ library: \(fixture.path), label: loud, controls: { gain: \(gain) } }")
    }
    for (gain, isWarned) in [(0.5, false), (1, true)] {
      let processor = try trial(gain).stage.makeProcessor(for: sound.format)
      _ = sound.processed(by: processor, cuts: [4096])
      let warnings = (processor as? PluginProcessor)?.warnings ?? []
      #expect(warnings.contains { $0.contains("dB above full scale") } == isWarned, "\(warnings)")
    }
    let error = try #require(throws: SpoolError.self) { try trial(4).result(of: sound) }
    #expect(error.reason?.contains("dB above full scale") == true, "\(error)")
  }

  @Test func `what takes sound and tells nothing is refused`() throws {
    let fixture = try LADSPAFixture()
    #expect(
      try message("{ library: \(fixture.path), label: sink }").contains(
        "it takes sound and tells nothing of it"))
  }

  @Test func `every wrong control is told of at once, with what is near`() throws {
    let fixture = try LADSPAFixture()
    let text = try message(
      "{ library: \(fixture.path), label: delay, controls: { gian: 1, gain: 7, Gain: x } }")
    #expect(text.contains("no control \"gian\"; did you mean \"gain\"?"), "\(text)")
    #expect(text.contains("gain is out of range at 7 (allowed: 0 … 4)"), "\(text)")
    #expect(text.contains("gain is a number, not \"x\""), "\(text)")
    let error = try #require(throws: SpoolError.self) {
      try EffectTrial("ladspa", "{ library: \(fixture.path), label: delay, controls: { gain: 7 } }")
    }
    #expect(error.faults.map(\.path) == [["controls", "gain"]])
  }

  @Test func `a label or a library that is not there is told of with what is near`() throws {
    let fixture = try LADSPAFixture()
    #expect(try message("{ library: \(fixture.path), label: dely }").contains("\"delay\"?"))
    #expect(try message("{ library: nowhere-at-all, label: x }").contains("is installed"))
  }

  @Test func `another library at the same place is another key`() throws {
    let fixture = try LADSPAFixture()
    let settings = "{ library: \(fixture.path), label: delay }"
    let first = try EffectTrial("ladspa", settings).stage.libraries
    #expect(first.count == 1)
    #expect(try EffectTrial("ladspa", settings).stage.libraries == first)
    // A byte behind the end of a library changes nothing but its digest.
    let file = try #require(FileHandle(forWritingAtPath: fixture.path))
    try file.seekToEnd()
    try file.write(contentsOf: [0])
    #expect(try EffectTrial("ladspa", settings).stage.libraries != first)
  }
}
