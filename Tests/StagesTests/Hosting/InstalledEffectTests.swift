import Audio
import Foundation
import PipelineModel
import Platform
import Plugins
@testable import Stages
import TestSupport
import Testing

@Suite("Plugins that Debian packages")
struct InstalledEffectTests {
  private static let isWhole =
    ProcessInfo.processInfo.environment["SPOOL_EVERY_EFFECT"] != nil

  private static let limiter = "http://drobilla.net/plugins/mda/Limiter"

  private static func noise(_ frames: Int, _ channelCount: Int = 2) -> TestSound {
    .noise(
      amplitude: 0.5, AudioFormat(sampleRate: Hertz(48_000), channelCount: channelCount),
      frames: frames)
  }

  @Test("an LV2 plugin gives the same however its sound arrives, and keeps its length")
  func cuts() throws {
    let sound = Self.noise(30_011)
    let trial = try EffectTrial("lv2", "{ uri: '\(Self.limiter)', controls: { thresh: 0.2 } }")
    let result = try trial.result(of: sound)
    #expect(result.frameCount == sound.frameCount && result != sound)
    #expect(try trial.result(of: sound, cuts: [1, 700, 9001]) == result)
    // A plugin of two channels hears mono sound twice.
    let mono = try trial.result(of: Self.noise(5000, 1))
    #expect(mono.format.channelCount == 1 && mono.frameCount == Frames(5000))
  }

  @Test("an LV2 plugin's control can be set by the name of one of its values")
  func scalePoint() throws {
    let sound = Self.noise(10_000)
    let settings = { (knee: String) in
      "{ uri: '\(Self.limiter)', controls: { thresh: 0.2, knee: \(knee) } }"
    }
    let soft = try EffectTrial("lv2", settings("Soft")).result(of: sound)
    #expect(try EffectTrial("lv2", settings("1")).result(of: sound) == soft)
    #expect(try EffectTrial("lv2", settings("0")).result(of: sound) != soft)
  }

  @Test("a bundle that crashes the parser, or has mistakes, is named, and others are found")
  func badBundles() throws {
    let folder = try ScratchFolder()
    let head = "@prefix lv2: <http://lv2plug.in/ns/lv2core#> .\n"
    let depth = 300_000
    for (name, text) in [
      ("deep", "<http://x/deep> lv2:x " + String(repeating: "[ <http://a> ", count: depth)),
      ("torn", "<http://x/torn> a lv2:Plugin ; broken"),
      ("whole", "<http://x/whole> a lv2:Plugin ; lv2:binary <whole.so> ."),
    ] {
      try FileManager.default.createDirectory(
        atPath: folder.file("\(name).lv2"), withIntermediateDirectories: true)
      try folder.write(head + text, to: "\(name).lv2/manifest.ttl")
    }
    let registry = EffectRegistry(
      launcher: try SpoolProgram.program.path, environment: ["LV2_PATH": folder.path])
    let flaws = try registry.catalog(.lv2).flaws
    #expect(flaws.contains { $0.hasPrefix(folder.file("deep.lv2: it crashed")) }, "\(flaws)")
    #expect(flaws.contains { $0.hasPrefix(folder.file("torn.lv2: ")) }, "\(flaws)")
    #expect(!flaws.contains { $0.contains("whole.lv2") }, "\(flaws)")
    #expect(try registry.description(.lv2, "http://x/whole").identity == "http://x/whole")
  }

  @Test("a preset sets the controls that its file names, and what the user sets comes after it")
  func preset() throws {
    let sound = Self.noise(10_000)
    let result = { (settings: String) in
      try EffectTrial("lv2", "{ uri: 'http://drobilla.net/plugins/mda/Detune', \(settings) }")
        .result(of: sound)
    }
    let preset = try result("preset: out of tune")
    #expect(try preset == result("controls: { detune: 0.8, mix: 0.7, output: 0.5, latency: 0.5 }"))
    #expect(try preset != result("preset: Symphonic"))
    #expect(
      try result("preset: Out Of Tune, controls: { mix: 0 }")
        == result("controls: { detune: 0.8, mix: 0 }"))
  }

  @Test("a folder of LV2_PATH is looked at, and units are known without the standard's own files")
  func ownFolder() throws {
    let scratch = try ScratchFolder()
    let bundle = scratch.file("mda.lv2")
    try FileManager.default.copyItem(atPath: "/usr/lib/lv2/mda.lv2", toPath: bundle)
    let registry = EffectRegistry(
      launcher: try SpoolProgram.program.path, environment: ["LV2_PATH": scratch.path])
    let effect = try registry.description(.lv2, "http://drobilla.net/plugins/mda/RePsycho")
    #expect(effect.binary == "\(bundle)/RePsycho.so")
    let units = Set(effect.controls.compactMap(\.control?.unit))
    let usual = try EffectRegistry(launcher: SpoolProgram.program.path)
      .description(.lv2, "http://drobilla.net/plugins/mda/RePsycho")
    #expect(units == Set(usual.controls.compactMap(\.control?.unit)))
  }

  @Test("an instrument, an unknown control and an unknown plugin are refused with a reason")
  func refusals() throws {
    func message(_ settings: String) throws -> String {
      let error = try #require(throws: SpoolError.self) { try EffectTrial("lv2", settings) }
      return "\(error.message): \(error.reason ?? "")"
    }
    #expect(
      try message("{ uri: 'http://drobilla.net/plugins/mda/Piano' }").contains(
        "it makes sound and takes none"))
    #expect(
      try message("{ uri: '\(Self.limiter)', controls: { tresh: 0 } }").contains("\"thresh\"?"))
    #expect(try message("{ uri: '\(Self.limiter)', preset: Loud }").contains("has no presets"))
    #expect(
      try message("{ uri: '\(Self.limiter)s' }").contains("did you mean \"\(Self.limiter)\"?"))
  }

  @Test("every effect that is installed treats a second of sound, and none takes Spool down")
  func everyEffect() throws {
    let sound = Self.noise(48_000)
    for format in EffectFormat.allCases {
      let catalog = try EffectTrial.catalog(format)
      let effects = catalog.entries.filter { entry in
        // A small set, unless all of them are wanted.
        entry.refusal == nil
          && (Self.isWhole || entry.identity.contains("/mda/") || entry.identity.hasPrefix("cmt:"))
      }
      var failures: [String] = []
      for effect in effects {
        do {
          let result = try EffectTrial(format.rawValue, Self.settings(effect, format)).result(
            of: sound)
          if result.frameCount != sound.frameCount { failures.append("\(effect.identity): length") }
        } catch let error as SpoolError {
          failures.append("\(effect.identity): \(error.message): \(error.reason ?? "")")
        }
      }
      print(
        "\(format.title): \(catalog.entries.count) installed, \(effects.count) effects tried, "
          + "\(effects.count - failures.count) ran")
      failures.forEach { print("  \($0)") }
      #expect(!effects.isEmpty)
      #expect(10 * failures.count <= effects.count, "\(failures)")
    }
  }

  private static func settings(_ effect: EffectCatalog.Entry, _ format: EffectFormat) -> String {
    guard format == .ladspa else { return "{ uri: '\(effect.identity)' }" }
    let parts = effect.identity.split(separator: ":")
    return "{ library: '\(parts[0])', label: '\(parts[1])' }"
  }
}
