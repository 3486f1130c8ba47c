import Audio
import Foundation
import TestSupport
import Testing

@Suite("LV2 and LADSPA plugins from the command line")
struct HostedEffectRunTests {
  @Test("an installed plugin is shown with its controls, and in lists")
  func stages() throws {
    let place = try Workspace()
    let page = try place.spool(["stages", "lv2:http://drobilla.net/plugins/mda/Limiter"])
    #expect(page.exitCode == 0, "\(page.errorOutput)")
    #expect(page.text.contains("allowed: Hard (0), Soft (1)"))
    let list = try place.spool(["stages", "ladspa:", "--json"])
    let entries = try list.text.split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
    let filter = try #require(entries.first { $0["identity"] as? String == "cmt:hpf" })
    #expect(filter["refusal"] is NSNull)
    let missing = try place.spool(["stages", "ladspa:cmt:hpff"])
    #expect(missing.exitCode == 2 && missing.errorOutput.contains("did you mean \"hpf\"?"))
  }

  @Test("a mistake in a control is told where it is, before any work")
  func mistake() throws {
    let place = try Workspace()
    let path = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages:\n  - decode\n"
        + "  - ladspa: { library: cmt, label: hpf, controls: { cutof-frequency-hz: 1 } }\n")
    let result = try place.spool(["pipeline", "check", path])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("\(path):5:73: error: ladspa cannot set cmt:hpf"))
    #expect(result.errorOutput.contains("did you mean \"cutoff-frequency-hz\"?"))
  }

  /// A plugin that halves the sound, and whose label is a URL.
  private static let half = """
    #include <ladspa.h>
    #include <stdlib.h>
    static LADSPA_Handle make(const LADSPA_Descriptor *d, unsigned long rate) {
      return calloc(2, sizeof(float *));
    }
    static void connect(LADSPA_Handle h, unsigned long port, float *memory) {
      ((float **)h)[port] = memory;
    }
    static void run(LADSPA_Handle h, unsigned long count) {
      for (unsigned long i = 0; i < count; i++) ((float **)h)[1][i] = ((float **)h)[0][i] / 2;
    }
    static const LADSPA_PortDescriptor kinds[] = {
      LADSPA_PORT_INPUT | LADSPA_PORT_AUDIO, LADSPA_PORT_OUTPUT | LADSPA_PORT_AUDIO};
    static const char *const names[] = {"In", "Out"};
    static const LADSPA_PortRangeHint hints[2];
    static const LADSPA_Descriptor plugin = {1, "http://example.org/ladspa/half#1", 0, "Half",
      "Spool", "none", 2, kinds, names, hints, 0, make, connect, 0, run, 0, 0, 0, free};
    const LADSPA_Descriptor *ladspa_descriptor(unsigned long index) {
      return index ? 0 : &plugin;
    }
    """

  @Test(
    "what the list and the page show can be pasted, though a label is a URL",
    .enabled(if: Program(named: "cc") != nil, "there is no C compiler"))
  func labelWithColons() throws {
    let place = try Workspace()
    try Data(Self.half.utf8).write(to: URL(filePath: place.file("half.c")))
    let build = try #require(Program(named: "cc")).run([
      "-shared", "-fPIC", "-o", place.file("half-1.2.so"), place.file("half.c"),
    ])
    try #require(build.exitCode == 0, "\(build.errorOutput)")
    let environment = [
      "LADSPA_PATH": URL(filePath: place.file("half.c"))
        .deletingLastPathComponent().path
    ]
    let list = try place.spool(["stages", "ladspa:"], environment: environment)
    let name = "ladspa:half-1.2:http://example.org/ladspa/half#1"
    #expect(list.text.contains("Half  '\(name)'"), "\(list.text)")
    let page = try place.spool(["stages", name], environment: environment)
    try #require(page.exitCode == 0, "\(page.errorOutput)")
    let step = "- ladspa: { library: half-1.2, label: \"http://example.org/ladspa/half#1\" }"
    #expect(page.text.contains(step), "\(page.text)")
    let input = place.file("in.wav")
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
    try TestSound.noise(amplitude: 0.5, format, frames: 4800).writeWAV(to: input)
    let path = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages:\n  - decode\n  \(step)\n"
        + "  - export: wav\n")
    let run = try place.spool(["run", path, input, "--out", place.out], environment: environment)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let output = try Reference.floats(of: "\(place.out)/in.wav")
    let halves = try Reference.floats(of: input).map { $0 / 2 }
    #expect(zip(output, halves).allSatisfy { abs($0 - $1) < 1e-4 })
  }

  @Test("a chain of plugins runs, and a second run reuses it")
  func chain() throws {
    let place = try Workspace()
    let input = place.file("in.wav")
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 2)
    try TestSound.noise(amplitude: 0.5, format, frames: 48_000).writeWAV(to: input)
    let path = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages:\n  - decode\n"
        + "  - lv2: \"http://drobilla.net/plugins/mda/Limiter\"\n"
        + "  - ladspa: { library: cmt, label: hpf, controls: { 1: 100 Hz } }\n"
        + "  - export: wav\n")
    let first = try place.run(path, [input])
    #expect(first.exitCode == 0 && first.reused.isEmpty)
    let second = try place.run(path, [input])
    #expect(second.exitCode == 0 && second.reused.contains("ladspa"))
  }
}
