import Foundation
import TestSupport
import Testing

/// A library of LADSPA plugins that misbehave, or show what their host does, compiled on the spot.
struct LADSPAFixture {
  private let scratch: ScratchFolder

  /// The library's path.
  var path: String { scratch.file("fixture.so") }

  init(_ definitions: String = "") throws {
    scratch = try ScratchFolder()
    try Data(Self.source.utf8).write(to: URL(fileURLWithPath: scratch.file("fixture.c")))
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments =
      ["clang", "-shared", "-fPIC", "-O1", "-o", path, scratch.file("fixture.c")]
      + (definitions.isEmpty ? [] : ["-D\(definitions)"])
    try compiler.run()
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0)
  }

  /// `delay` comes out 100 frames late and says so; `length` gives the length of each block;
  /// `crash` dies in the second block; `lie` says that its latency is no number;
  /// `http://example.org/fixture:delay` is `delay` under a URL; `loud` amplifies by its gain times
  /// 100 dB; `peak` is a meter, and `sink` tells nothing. With CRASH_EARLY, already looking at the
  /// library kills; with TALKATIVE, it says something then; with ENDLESS, there is no end of its
  /// plugins.
  private static let source = """
    #include <ladspa.h>
    #include <math.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>

    enum { in, out, gain, latency, port_count };
    struct state { float *ports[port_count]; float past[100]; int runs; };

    static LADSPA_Handle make(const LADSPA_Descriptor *d, unsigned long rate) {
      return calloc(1, sizeof(struct state));
    }
    static void connect(LADSPA_Handle h, unsigned long port, LADSPA_Data *memory) {
      ((struct state *)h)->ports[port] = memory;
    }
    static void run_delay(LADSPA_Handle h, unsigned long count) {
      struct state *s = h;
      for (unsigned long i = 0; i < count; i++) {
        float next = s->ports[in][i];
        s->ports[out][i] = s->past[0] * *s->ports[gain];
        memmove(s->past, s->past + 1, sizeof s->past - sizeof(float));
        s->past[99] = next;
      }
      *s->ports[latency] = 100;
    }
    static void run_length(LADSPA_Handle h, unsigned long count) {
      struct state *s = h;
      for (unsigned long i = 0; i < count; i++) s->ports[out][i] = count / 65536.0f;
      *s->ports[latency] = 0;
    }
    static void run_crash(LADSPA_Handle h, unsigned long count) {
      struct state *s = h;
      *s->ports[latency] = 0;
      if (++s->runs > 20) *(volatile int *)8 = 1;
      memcpy(s->ports[out], s->ports[in], count * sizeof(float));
    }
    static void run_loud(LADSPA_Handle h, unsigned long count) {
      struct state *s = h;
      *s->ports[latency] = 0;
      for (unsigned long i = 0; i < count; i++) s->ports[out][i] = powf(10, 5 * *s->ports[gain]) * s->ports[in][i];
    }
    static void run_lie(LADSPA_Handle h, unsigned long count) {
      *((struct state *)h)->ports[latency] = NAN;
    }
    static void run_peak(LADSPA_Handle h, unsigned long count) {
      struct state *s = h;
      for (unsigned long i = 0; i < count; i++) s->past[0] = fmaxf(s->past[0], fabsf(s->ports[0][i]));
      *s->ports[1] = s->past[0];
    }
    static void run_sink(LADSPA_Handle h, unsigned long count) {}
    static void clean(LADSPA_Handle h) { free(h); }

    static const LADSPA_PortDescriptor meter_kinds[] = {
        LADSPA_PORT_INPUT | LADSPA_PORT_AUDIO, LADSPA_PORT_OUTPUT | LADSPA_PORT_CONTROL};
    static const char *const meter_names[] = {"Input", "Peak"};

    static const LADSPA_PortDescriptor kinds[] = {
        LADSPA_PORT_INPUT | LADSPA_PORT_AUDIO, LADSPA_PORT_OUTPUT | LADSPA_PORT_AUDIO,
        LADSPA_PORT_INPUT | LADSPA_PORT_CONTROL, LADSPA_PORT_OUTPUT | LADSPA_PORT_CONTROL};
    static const char *const names[] = {"Input", "Output", "Gain", "latency"};
    static const LADSPA_PortRangeHint hints[] = {
        {0}, {0},
        {LADSPA_HINT_BOUNDED_BELOW | LADSPA_HINT_BOUNDED_ABOVE | LADSPA_HINT_DEFAULT_1, 0, 4}, {0}};

    #define PLUGIN(number, label) {number, #label, 0, #label, "Spool", "none", port_count, kinds, \\
      names, hints, 0, make, connect, 0, run_##label, 0, 0, 0, clean}
    static const LADSPA_Descriptor plugins[] = {
        PLUGIN(1, delay), PLUGIN(2, length), PLUGIN(3, crash), PLUGIN(4, lie),
        {5, "peak", 0, "peak", "Spool", "none", 2, meter_kinds, meter_names, hints, 0, make, connect,
         0, run_peak, 0, 0, 0, clean},
        {6, "sink", 0, "sink", "Spool", "none", 1, meter_kinds, meter_names, hints, 0, make, connect,
         0, run_sink, 0, 0, 0, clean},
        {7, "http://example.org/fixture:delay", 0, "Delay", "Spool", "none", port_count, kinds,
         names, hints, 0, make, connect, 0, run_delay, 0, 0, 0, clean},
        PLUGIN(8, loud)};

    const LADSPA_Descriptor *ladspa_descriptor(unsigned long index) {
    #ifdef CRASH_EARLY
      abort();
    #endif
    #ifdef TALKATIVE
      printf("I am talkative\\n");
      fprintf(stderr, "I am talkative\\n");
    #endif
    #ifdef ENDLESS
      return &plugins[0];
    #endif
      return index < 8 ? &plugins[index] : 0;
    }
    """
}
