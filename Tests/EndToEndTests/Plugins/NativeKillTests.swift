import Foundation
import TestSupport
import Testing

@Suite(
  "A run that is killed inside a native plugin goes on there",
  .enabled(if: Program(named: "cc") != nil, "there is no C compiler"),
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct NativeKillTests {
  /// An effect whose every sample depends on all before it, and which is slow enough to be met at work.
  private static let code = """
    #include "spool_plugin.h"
    #include <stdlib.h>
    #include <unistd.h>
    typedef struct { double level; uint64_t frames; uint32_t channels; char text[64]; } effect;
    static void *create(const spool_setting *s) {
      effect *e = calloc(1, sizeof *e);
      if (e) e->channels = s->channels;
      return e;
    }
    static int process(void *p, float *x, uint32_t frames) {
      effect *e = p;
      usleep(4000);
      for (size_t n = 0; n < (size_t)frames * e->channels; n++) {
        e->level += 0.001 * (x[n] - e->level);
        x[n] = (float)(0.5 * x[n] + e->level);
      }
      e->frames += frames;
      return 0;
    }
    static size_t state_size(const void *p) { (void)p; return sizeof(effect); }
    static void save(const void *p, void *bytes) { memcpy(bytes, p, sizeof(effect)); }
    static int restore(void *p, const void *bytes, size_t count) {
      if (count != sizeof(effect)) return 1;
      memcpy(p, bytes, count);
      return 0;
    }
    static const spool_plugin plugin = {
      .abi = SPOOL_PLUGIN_ABI, .size = sizeof(spool_plugin), .create = create, .process = process,
      .destroy = free, .state_size = state_size, .save = save, .restore = restore };
    SPOOL_EXPORT const spool_plugin *spool_plugin_entry(void) { return &plugin; }
    """

  private func place(_ mark: String) throws -> (PluginPlace, pipeline: String, note: String) {
    let place = try PluginPlace()
    try place.plugin(
      mark, "library: ./slow.so", stages: "  - { kind: slow, type: sound, summary: x }")
    let source = try place.write(Self.code, to: "Plugins/\(mark)/slow.c")
    let built = try #require(Program(named: "cc")).run([
      "-O2", "-shared", "-fPIC", "-I", PackageFiles.plugin("include"), "-o",
      place.file("Plugins/\(mark)/slow.so"), source,
    ])
    try #require(built.exitCode == 0, "\(built.errorOutput)")
    let note = place.file("note.wav")
    try Reference.record(note, seconds: 240)
    let pipeline = try place.write(
      """
      pipeline: slow
      inputs: { note: sound }
      stages: [decode, slow, gain: -3 dB, export: { formats: [wav], wav: { bits: float } }]
      """, to: "pipeline.yaml")
    return (place, pipeline, note)
  }

  @Test("to the same bytes, and nothing of it is left running")
  func killed() throws {
    let mark = "slow-" + UUID().uuidString.lowercased()
    let (place, pipeline, note) = try place(mark)
    let running = try place.place.start(pipeline, [note])
    try #require(try running.waits(for: "\"progress\"", times: 12))
    #expect(!Self.processes(of: mark).isEmpty)
    running.send(SIGKILL)
    #expect(try running.end().run.exitCode == 128 + SIGKILL)
    var rounds = 0
    while !Self.processes(of: mark).isEmpty, rounds < 200 {
      usleep(20_000)
      rounds += 1
    }
    #expect(Self.processes(of: mark) == [])
    let resumed = try place.place.resume()
    try #require(resumed.exitCode == 0, "\(resumed.errorOutput)")
    let why = try place.spool(["why", "last"])
    #expect(why.text.contains(" had left, at "), "\(why.text)")

    let (other, otherPipeline, otherNote) = try self.place(mark)
    let whole = try other.place.run(otherPipeline, [otherNote])
    try #require(whole.exitCode == 0, "\(whole.errorOutput)")
    #expect(try place.place.export("note.wav") == other.place.export("note.wav"))
  }

  /// The processes whose command line names the plugin.
  private static func processes(of mark: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.filter { name in
      guard name.first?.isNumber == true,
        let line = FileManager.default.contents(atPath: "/proc/\(name)/cmdline")
      else { return false }
      return String(decoding: line, as: UTF8.self).contains("/\(mark)/slow.so")
    }
  }
}
