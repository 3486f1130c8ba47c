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
    let entries = try #require(
      try JSONSerialization.jsonObject(with: list.output) as? [[String: Any]])
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
    let result = try place.spool(["check-pipeline", path])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("\(path):5:73: error: ladspa cannot set cmt:hpf"))
    #expect(result.errorOutput.contains("did you mean \"cutoff-frequency-hz\"?"))
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
