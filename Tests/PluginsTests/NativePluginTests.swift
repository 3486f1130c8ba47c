import Audio
import Foundation
import PipelineModel
import Plugins
@testable import Stages
import SoundEngine
import TestSupport
import Testing

@Suite(
  "Native plugins work in a process of their own",
  .enabled(if: Program(named: "cc") != nil, "there is no C compiler"))
struct NativePluginTests {
  @Test("softclip does to every sample what its formula says")
  func softclip() throws {
    let place = try PluginPlace()
    try place.build("softclip-c")
    let run = try place.run("softclip: { drive: 12 dB, ceiling: -6 dB }")
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let input = try Reference.floats(of: place.recording)
    let output = try place.samples()
    try #require(input.count == output.count)
    let drive: Double = pow(10, 12.0 / 20)
    let ceiling: Double = pow(10, -6.0 / 20)
    var worst = 0.0
    for (sample, result) in zip(input, output) {
      let expected: Double = ceiling * tanh(drive * Double(sample) / ceiling)
      worst = max(worst, abs(expected - Double(result)))
    }
    #expect(worst < 1e-6)
    let figures = try #require(run.findings["softclip"])
    #expect(figures.contains("\"samples\":\(input.count)"))
  }

  @Test("a plugin that was not built says how to build it")
  func unbuilt() throws {
    let place = try PluginPlace()
    try place.copy("softclip-c")
    let run = try place.run("softclip: {}")
    #expect(run.exitCode == 2)
    for words in [
      "the plugin softclip-c 1.0.0 cannot be started", "softclip-c/softclip.so is not there",
      "allowed: build it: sh ",
    ] { #expect(run.errorOutput.contains(words), "\(run.errorOutput)") }
  }

  @Test("a library that is not there, or that is none, is a problem of the manifest")
  func inspection() throws {
    let place = try PluginPlace()
    try place.copy("softclip-c")
    let folder = "\(place.folder)/softclip-c"
    let missing = try PluginInspection(folder: folder).problems
    #expect(missing.map(\.message) == ["\(folder)/softclip.so is not there"], "\(missing)")
    #expect(missing.first?.location != nil && missing.first?.allowed?.contains("build") == true)
    try Data("junk\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/softclip.so"))
    let junk = try PluginInspection(folder: folder).problems
    #expect(junk.count == 1 && junk[0].message.contains("is no shared library"), "\(junk)")
    try place.build("softclip-c")
    #expect(try PluginInspection(folder: folder).problems.isEmpty)
  }

  @Test("a pipe in a library's place is refused, and nobody waits for what it would say")
  func pipe() throws {
    let place = try PluginPlace()
    try place.copy("softclip-c")
    try #require(unsafe mkfifo("\(place.folder)/softclip-c/softclip.so", 0o600) == 0)
    let run = try place.run("softclip: {}")
    #expect(run.exitCode == 2)
    #expect(run.errorOutput.contains("softclip.so is no plain file"), "\(run.errorOutput)")
  }

  @Test(
    "a library that is none of ours is refused in so many words",
    arguments: [
      ("int nothing;", "it has no function spool_plugin_entry"),
      (
        "static const spool_plugin p = {.abi = 99, .size = sizeof p};"
          + "SPOOL_EXPORT const spool_plugin *spool_plugin_entry(void) { return &p; }",
        "this Spool speaks version 1"
      ),
      (
        "static const spool_plugin p = {.abi = SPOOL_PLUGIN_ABI, .size = 8};"
          + "SPOOL_EXPORT const spool_plugin *spool_plugin_entry(void) { return &p; }",
        "are the least"
      ),
      (
        "extern void missing(void);"
          + "SPOOL_EXPORT const spool_plugin *spool_plugin_entry(void) { missing(); return 0; }",
        "undefined symbol: missing"
      ),
    ])
  func refusal(code: String, reason: String) throws {
    let place = try PluginPlace()
    try compile("#include \"spool_plugin.h\"\n" + code, in: place)
    let run = try place.run("made: {}")
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.why.contains(reason), "\(complaint.why)")
  }

  @Test("a crash in a library is a failed stage")
  func crash() throws {
    let place = try PluginPlace()
    try compile(
      Self.effect(
        "  volatile int *nowhere = 0; fputs(\"about to fall\\n\", stderr); *nowhere = 1;"),
      in: place)
    let run = try place.run("made: {}")
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.why.contains("it crashed (Segmentation fault)"), "\(complaint.why)")
    #expect(complaint.why.contains("about to fall"))
  }

  @Test("what a library prints disturbs nothing")
  func printing() throws {
    let place = try PluginPlace()
    try compile(Self.effect("  puts(\"hello\"); fflush(stdout); printf(\"{}\\n\");"), in: place)
    let run = try place.run("made: {}")
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try place.samples() == Reference.floats(of: place.recording))
  }

  @Test("the reason of an effect that cannot be made is the plugin's own")
  func unwilling() throws {
    let place = try PluginPlace()
    try compile(
      Self.effect(
        "", create: "snprintf(s->reason, s->reason_size, \"only on Sundays\"); return 0;"),
      in: place)
    let run = try place.run("made: {}")
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.why == "only on Sundays")
  }

  @Test(
    "the loudness gate opens for what is loud, in time, and goes on from a snapshot bit for bit",
    .enabled(if: Program(named: "swiftc") != nil, "there is no swiftc"))
  func loudnessGate() throws {
    let place = try PluginPlace()
    try place.build("loudness-gate-swift")
    let plugin = try #require(PluginRegistry(in: [place.folder]).plugins.first)
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
    // Half a second each of -60 dB and -20 dB, in turns.
    let sound = TestSound(format, frames: 144_000) { channel, frame in
      let level = frame / 24_000 % 2 == 0 ? 0.001 : 0.1
      let step: Double = 0.13 + 0.01 * Double(channel)
      return Float(level * sin(Double(frame) * step))
    }
    func process(handover: Int?) throws -> TestSound {
      var gate = try processor(of: plugin, format)
      var result = TestSound(sampleRate: format.sampleRate, channels: [[], []])
      let split = handover ?? 0
      result.appendOutput(of: gate, given: sound[0..<split], cuts: [4096])
      if handover != nil {
        let next = try processor(of: plugin, format)
        try next.restore(gate.snapshot)
        gate = next
      }
      result.appendOutput(of: gate, given: sound[split..<144_000], cuts: [1000, 77, 5000])
      result.appendRemains(of: gate)
      try #require(gate.failure == nil, "\(String(describing: gate.failure))")
      return result
    }
    let whole = try process(handover: nil)
    #expect(whole.frameCount.count == 144_000)
    #expect(whole.firstDifference(from: try process(handover: 70_123)) == nil)
    func level(_ sound: TestSound, _ range: Range<Int>) -> Float {
      range.map { abs(sound.channels[0][$0]) }.max() ?? 0
    }
    // In the middle of loud sound it is open, and in the middle of quiet sound turned down by 18 dB.
    let loud = Double(level(whole, 34_000..<38_000) / level(sound, 34_000..<38_000))
    #expect(abs(loud - 1) < 0.01)
    let quiet = Double(level(whole, 4000..<6000) / level(sound, 4000..<6000))
    let range: Double = pow(10, -18.0 / 20)
    #expect(abs(quiet - range) < 0.01)
  }

  private func processor(
    of plugin: Plugin, _ format: AudioFormat
  ) throws -> PluginProcessor {
    let kind = try #require(plugin.manifest.kinds.first)
    var resolver = ParameterResolver(owner: kind.kind)
    let parameters = resolver.resolve(
      try #require(YAMLDocument("{}").root), as: kind.parameters)
    return try PluginProcessor(
      plugin, kind: kind, parameters: parameters, format: format,
      launcher: try SpoolProgram.program.path)
  }

  /// Builds a library from C and writes a manifest for it.
  private func compile(_ code: String, in place: PluginPlace) throws {
    try place.write(
      "made",
      manifest: """
        plugin: made
        version: 1.0.0
        protocol: 1
        summary: A plugin of a test
        library: ./made.so
        stages:
          - { kind: made, type: sound, summary: A stage of a test }
        """)
    let folder = place.folder + "/made"
    try code.write(toFile: folder + "/made.c", atomically: true, encoding: .utf8)
    let result = try #require(Program(named: "cc")).run([
      "-shared", "-fPIC", "-I", PackageFiles.plugin("include"), "-o", folder + "/made.so",
      folder + "/made.c",
    ])
    try #require(result.exitCode == 0, "\(result.errorOutput)")
  }

  /// An effect that does something else besides nothing.
  private static func effect(_ work: String, create: String = "(void)s; return malloc(1);")
    -> String
  {
    """
    #include <stdio.h>
    #include <stdlib.h>
    #include "spool_plugin.h"
    static void *create(const spool_setting *s) { \(create) }
    static int process(void *e, float *x, uint32_t n) {
      (void)e; (void)x; (void)n;
    \(work)
      return 0;
    }
    static const spool_plugin p = {
      .abi = SPOOL_PLUGIN_ABI, .size = sizeof(spool_plugin),
      .create = create, .process = process, .destroy = free,
    };
    SPOOL_EXPORT const spool_plugin *spool_plugin_entry(void) { return &p; }
    """
  }
}
