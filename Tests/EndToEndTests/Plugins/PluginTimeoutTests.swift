import Foundation
import TestSupport
import Testing

@Suite(
  "A step's timeout ends a plugin that hangs, long before the plugin's own limit",
  .enabled(if: Program(named: "python3") != nil, "python3 is not installed"),
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct PluginTimeoutTests {
  /// Says that it is ready, or nothing at all, and then waits.
  private static let stuck = #"""
    import json, sys, time
    hello = json.loads(sys.stdin.buffer.readline())
    if hello["parameters"]["manner"] == "polite":
        sys.stdout.write(json.dumps({"type": "ready", "protocol": 1}) + "\n")
        sys.stdout.flush()
    time.sleep(100000)
    """#

  @Test("while it is greeted, and while it has sound", arguments: ["mute", "polite"])
  func hanging(manner: String) throws {
    let place = try PluginPlace()
    try place.plugin(
      "stuck",
      """
      run: [python3, ./stuck.py]
      limits: { time: 3600 s }
      """,
      stages: """
          - kind: stuck
            type: sound
            summary: Wait
            parameters: [{ name: manner, choices: [mute, polite], default: mute, help: whether it answers }]
        """)
    try place.write(Self.stuck, to: "Plugins/stuck/stuck.py")
    let recording = place.file("take.wav")
    try Reference.record(recording, seconds: 5)
    let pipeline = try place.place.pipeline(
      """
      pipeline: stuck
      stages:
        - decode
        - stuck: { manner: \(manner) }
          timeout: 1 s
        - export: [wav]
      """)
    let run = try place.spool(["run", pipeline, recording, "--out", place.place.out])
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("stuck: gave up after 1 s"), "\(run.errorOutput)")
  }
}
