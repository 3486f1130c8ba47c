import Foundation
@testable import Plugins
import TestSupport
import Testing

@Suite(
  "Whatever a plugin does, it is a failed stage with a clear message",
  .enabled(if: Program(named: "python3") != nil, "there is no python3"))
struct HostilePluginTests {
  /// The beginning of a sound plugin that answers `hello`.
  private static let start = """
    import sys, json, os, time
    source, target = sys.stdin.buffer, sys.stdout.buffer
    def say(data=b"", **message):
        target.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\\n" + data); target.flush()
    hello = json.loads(source.readline())
    say(type="ready", protocol=1)
    message = json.loads(source.readline()); data = source.read(message["bytes"])

    """

  @Test(
    "in the midst of the sound",
    arguments: [
      ("time.sleep(60)", "it gave no \"sound\" within 2 s"),
      ("while True: say(type=\"log\", message=\"still here\")", "it gave no \"sound\" within 2 s"),
      ("while True: target.write(b\"x\" * 65536)", "what it wrote is no message"),
      ("target.write(b\"Hello!\\n\"); target.flush(); time.sleep(60)", "\"Hello!\""),
      ("say(data[:-4], type=\"sound\", frames=message[\"frames\"])", "it answered"),
      ("say(data, type=\"sound\", frames=1)", "with 1 frames and"),
      ("while True: say(type=\"progress\", done=0.5)", " within 2 s, and "),
      ("say(type=\"ready\", latency=float(\"nan\"))", "NaN"),
      (
        "say(b\"\\x00\\x00\\xc0\\x7f\" * (len(data) // 4), type=\"sound\", frames=message[\"frames\"])",
        "is no number"
      ),
      ("say(type=\"done\")", "it answered \"done\" where \"sound\" was due"),
      (
        "target.write(b'{\"type\":\"sound\",\"frames\":1}'); target.flush(); sys.exit(0)",
        "whose line does not end"
      ),
      ("os.abort()", "it crashed (Aborted)"),
      ("sys.exit(7)", "it ended with exit code 7"),
      ("raise ValueError(\"no such luck\")", "ValueError: no such luck"),
      (
        "target.write(b'{\"type\":\"sound\",\"frames\":1,\"bytes\":99999999999}\\n'); target.flush();"
          + "time.sleep(60)", "99999999999 bytes behind"
      ),
      ("x = bytearray(8 << 30)", "MemoryError"),
      ("os.close(1); os.close(2); time.sleep(60)", "it closed its standard output before"),
    ])
  func misdeed(deed: String, reason: String) throws {
    let place = try PluginPlace()
    try place.write("bad", limits: "{ time: 2 s, memory: 1024 }", Self.start + deed)
    let before = ContinuousClock.now
    let run = try place.run("bad: {}")
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains("the plugin bad 1.0.0 failed"), "\(complaint.what)")
    #expect(complaint.why.contains(reason), "\(complaint.why)")
    #expect(complaint.why.utf8.count < 4000)
    #expect(ContinuousClock.now - before < .seconds(45))
    #expect(place.place.exports == [])
  }

  @Test("endless complaints are read, and only their end is kept")
  func complaints() throws {
    let place = try PluginPlace()
    try place.write(
      "loud", limits: "{ time: 3 s }",
      Self.start + "while True: sys.stderr.write(\"woe is me \" * 1000 + \"\\n\")")
    let run = try place.run("loud: {}")
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.why.contains("woe is me"))
    #expect(complaint.why.utf8.count < 4000)
  }

  @Test("a fork bomb ends with its stage, down to the last process", arguments: [false, true])
  func forkBomb(isEscaping: Bool) throws {
    let place = try PluginPlace()
    // A bomb of a known size, so that a broken test does no harm either.
    let mark = "spool-bomb-\(UUID().uuidString)"
    try place.write(
      "bomb", limits: "{ time: 3 s }",
      Self.start
        + """
        for n in range(40):
            if os.fork() == 0:
                if \(isEscaping ? "True" : "False"): os.setsid()
                os.execvp("sleep", ["\(mark)", "600"])
        time.sleep(60)
        """)
    let run = try place.run("bomb: {}")
    #expect(run.exitCode == 1)
    #expect(run.complaint != nil, "\(run.errorOutput)")
    #expect(RunningProcesses.named(mark) == [])
  }

  @Test("a fork bomb of a plugin that root runs starts so many processes and no more")
  func countedProcesses() throws {
    guard ProcessCage.isPossible else { return }
    let place = try PluginPlace()
    // More than it may start, and not so many that a broken test does harm.
    try place.write(
      "many", limits: "{ time: 20 s }",
      Self.start
        + """
        for n in range(\(ProcessCage.most + 40)):
            if os.fork() == 0:
                time.sleep(60)
        """)
    let run = try place.run("many: {}")
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.why.contains("BlockingIOError"), "\(complaint.why)")
  }

  @Test(
    "what it must not have, it does not get",
    arguments: [
      ("open(os.environ[\"SECRET\"])", "KeyError"),
      ("open(\"OUTSIDE\").read()", "PermissionError: [Errno 13] Permission denied"),
      ("os.listdir(\"FOLDER\")", "PermissionError: [Errno 13] Permission denied"),
    ])
  func forbidden(deed: String, reason: String) throws {
    let place = try PluginPlace()
    let outside = try place.place.folder.write("a secret", to: "outside.txt")
    let code = deed.replacing("OUTSIDE", with: outside)
      .replacing("FOLDER", with: place.place.folder.path)
    try place.write("nosy", Self.start + code)
    let run = try place.run("nosy: {}")
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.why.contains(reason), "\(complaint.why)")
    #expect(try String(contentsOfFile: outside, encoding: .utf8) == "a secret")
  }

  @Test("a plugin's own words for an error are what the user reads")
  func ownWords() throws {
    let place = try PluginPlace()
    try place.write(
      "picky",
      Self.start
        + "say(type=\"error\", message=\"too quiet\", reason=\"-90 LUFS\", advice=\"speak up\")")
    let run = try place.run("picky: {}")
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains("picky 1.0.0: too quiet"))
    #expect(complaint.why == "-90 LUFS")
    #expect(complaint.next.hasPrefix("speak up"))
  }

  @Test("unknown messages, and the bytes behind them, are skipped")
  func unknownMessages() throws {
    let place = try PluginPlace()
    try place.write(
      "chatty",
      Self.start
        + """
        while True:
            say(b"\\n\\n{{{", type="mood", colour="blue")
            say(data, type="sound", frames=message["frames"], mood="good")
            message = json.loads(source.readline()); data = source.read(message.get("bytes", 0))
            if message["type"] == "end": say(type="done"); break
        """)
    let run = try place.run("chatty: {}")
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try place.samples() == Reference.floats(of: place.recording))
  }

  @Test("a file stage that writes nothing, or something that is no file, fails")
  func noOutput() throws {
    let ports = """
          inputs: [{ name: sound, carries: sound }]
          outputs: [{ name: page, carries: file, file-name: "{stem}.txt" }]
      """
    for (deed, reason) in [
      ("pass", "it is done and has not written page"),
      ("os.symlink(\"/etc/passwd\", hello[\"outputs\"][\"page\"])", "its page is no plain file"),
      ("os.mkdir(hello[\"outputs\"][\"page\"])", "its page is no plain file"),
      (
        "open(hello[\"outputs\"][\"page\"], \"wb\").truncate(10 << 30)",
        "its page has 10240 MB, and holes are 10240 MB of them"
      ),
    ] {
      let place = try PluginPlace()
      try place.write(
        "lazy", type: "file", ports: ports,
        """
        import sys, json, os
        hello = json.loads(sys.stdin.readline())
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
        \(deed)
        print(json.dumps({"type": "done"}), flush=True)
        """)
      let run = try place.run("lazy: {}")
      #expect(run.exitCode == 1)
      #expect(run.errorOutput.contains(reason), "\(run.errorOutput)")
    }
  }
}
