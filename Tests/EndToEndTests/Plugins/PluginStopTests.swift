import Foundation
import TestSupport
import Testing

@Suite(
  "A pass that is stopped while a plugin gives its state goes on, with the same bytes",
  .enabled(if: Program(named: "python3") != nil, "python3 is not installed"),
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct PluginStopTests {
  /// Smooths the sound, and takes its time to say how far it is: nearly every stop comes then.
  private static let smooth = #"""
    import array, json, struct, sys, time
    source, target = sys.stdin.buffer, sys.stdout.buffer
    def say(data=b"", **message):
        target.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\n" + data)
        target.flush()
    source.readline()
    say(type="ready", protocol=1, snapshots=True)
    last = 0.0
    for line in source:
        message = json.loads(line); data = source.read(message.get("bytes", 0))
        if message["type"] == "sound":
            samples = array.array("f", data)
            for index, x in enumerate(samples):
                last += (x - last) / 8
                samples[index] = last
            say(samples.tobytes(), type="sound", frames=message["frames"])
        elif message["type"] == "snapshot":
            time.sleep(0.4)
            say(struct.pack("d", last), type="snapshot")
        elif message["type"] == "restore":
            last = struct.unpack("d", data)[0]
            say(type="restored")
        elif message["type"] == "end": say(type="done")
    """#

  @Test("after a signal, at any time")
  func stopped() throws {
    let place = try PluginPlace()
    try place.plugin("smooth", "run: [python3, ./smooth.py]")
    try place.write(Self.smooth, to: "Plugins/smooth/smooth.py")
    let recording = place.file("take.wav")
    try Reference.record(recording, seconds: 6, rate: 22050, channels: 1)
    let pipeline = try place.place.pipeline(
      "pipeline: p\nstages: [decode, smooth, { export: [wav, flac] }]\n")
    let options = ["--plugins", place.file("Plugins"), "--store", place.file("whole")]
    #expect(try place.place.run(pipeline, [recording], options).exitCode == 0)
    let whole = try place.place.allExports()
    try #require(whole.count == 2)

    for delay in [0.5, 0.8, 1.1, 1.4] {
      try FileManager.default.removeItem(atPath: place.place.out)
      let store = place.file("store-\(delay)")
      let options = ["--plugins", place.file("Plugins"), "--store", store]
      let running = try place.place.start(pipeline, [recording], options)
      usleep(UInt32(delay * 1e6))
      running.send(SIGTERM)
      let stopped = try running.end().run
      #expect([0, 128 + SIGTERM].contains(stopped.exitCode), "\(stopped.errorOutput)")
      let goesOn = try place.place.run(pipeline, [recording], options)
      #expect(goesOn.exitCode == 0, "after \(delay) s: \(goesOn.errorOutput)")
      #expect(try place.place.allExports() == whole, "after \(delay) s")
    }
  }

  @Test(
    "what a plugin makes that gives other sound each time is kept, and told of where it is gone")
  func unrepeatable() throws {
    let place = try PluginPlace()
    try place.plugin("roll", "run: [python3, ./roll.py]\ndeterministic: false")
    try place.write(
      Self.smooth.replacing(", snapshots=True", with: "")
        .replacing("import array", with: "import random, array")
        .replacing("last += (x - last) / 8", with: "last = x * gain")
        .replacing("last = 0.0\n", with: "gain = random.uniform(0.01, 0.9)\n"),
      to: "Plugins/roll/roll.py")
    let recording = place.file("take.wav")
    try Reference.record(recording, seconds: 1, rate: 22050, channels: 1)
    let pipeline = try place.place.pipeline(
      """
      pipeline: p
      vars: { formats: { value: [flac] } }
      stages: [decode, roll, { export: $formats }]
      """)
    func run(_ formats: String) throws -> SpoolRun {
      let run = try place.place.run(
        pipeline, [recording],
        ["--plugins", place.file("Plugins"), "--set", "formats=\(formats)"])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      return run
    }
    func samples(_ name: String) throws -> Data {
      let raw = place.file("raw")
      try Reference.ffmpeg([
        "-y", "-i", place.place.out + "/" + name, "-f", "s16le", "-c:a", "pcm_s16le", raw,
      ])
      return try Data(contentsOf: URL(filePath: raw))
    }
    _ = try run("flac")
    #expect(try run("wav").warnings == [])
    #expect(try samples("take.wav") == samples("take.flac"))
    #expect(try place.spool(["store", "gc", "--sound", "--grace", "0s"]).exitCode == 0)
    let other = try run("alac")
    #expect(
      other.warnings.contains { $0.contains("is not in the store any more, and is made again") },
      "\(other.warnings)")
  }
}
