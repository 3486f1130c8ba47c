import Foundation
@testable import Plugins
import TestSupport
import Testing

@Suite("What a launcher tells is its own, whatever the program writes")
struct LauncherReportTests {
  @Test("it is put together from pieces, and what means nothing is skipped")
  func pieces() {
    let lines = [
      "nonsense", "confined 1 7 1", "confined 0 7 1 1 0 1", "left 3",
      "failed cannot start x: no such file", "ended 256", "",
    ]
    var report = LauncherReport()
    for byte in lines.joined(separator: "\n").utf8 { report.take([byte]) }
    #expect(report.confinement?.state == "namespaces: none, landlock: 7, seccomp: on")
    let warning = report.confinement?.warning(
      of: "x", hasNetwork: false, hasOwnNetwork: false)
    #expect(warning?.contains("cannot keep it from changing permissions") == true)
    #expect(report.trouble == "cannot start x: no such file")
    #expect(report.status == 256)
    #expect(report.left == 3)
    #expect(report.remnant?.hasPrefix("3 processes that it started") == true)
    #expect(LauncherReport().remnant == nil)
    let whole = Confinement("1 7 1 1 1 1")
    #expect(whole?.warning(of: "x", hasNetwork: false, hasOwnNetwork: true) == nil)
    let unfiltered = Confinement("1 7 0 1 1 1")
    for hasOwnNetwork in [false, true] {
      let words = unfiltered?.warning(of: "x", hasNetwork: false, hasOwnNetwork: hasOwnNetwork)
      #expect(words?.contains("the network") == !hasOwnNetwork)
    }
    #expect(whole?.state == "namespaces: bubblewrap, landlock: 7, seccomp: on")
  }

  /// A sound plugin, or a command, that says on standard error what looks like a launcher's words, and
  /// then so much that nothing that came before is kept.
  private static let noise = """
    import sys
    print('confined 0 0 0 0 0 0', file=sys.stderr)
    print('failed dancing', file=sys.stderr)
    for n in range(3000): print("spool: not confined: dancing", file=sys.stderr)

    """

  @Test(
    "no noise hides it, and no word forges it",
    .enabled(if: Program(named: "python3") != nil, "there is no python3"),
    arguments: [Surroundings.asHere, .withoutNamespaces])
  func noise(surroundings: Surroundings) throws {
    guard let words = surroundings.words, let wrapper = Program(named: words[0]) else {
      print("not tested: \(surroundings) cannot be had here")
      return
    }
    let place = try PluginPlace()
    try place.write(
      "loud",
      Self.noise
        + """
        import json
        source, target = sys.stdin.buffer, sys.stdout.buffer
        def say(data=b"", **message):
            target.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\\n" + data); target.flush()
        for line in source:
            message = json.loads(line); data = source.read(message.get("bytes", 0))
            if message["type"] == "hello": say(type="ready", protocol=1)
            if message["type"] == "sound": say(data, type="sound", frames=message["frames"])
            if message["type"] == "end": say(type="done")
        """)
    try place.place.folder.write(Self.noise, to: "noise.py")
    let pipeline = try place.place.pipeline(
      """
      pipeline: noise
      inputs: { note: sound }
      stages:
        - decode
        - loud: {}
        - command:
            run: [python3, "{script}", "{input}"]
            files: { script: noise.py }
            outputs: { file-name: "{stem}.txt" }
      """)
    let run = try place.place.run(
      pipeline, [place.recording], under: wrapper, Array(words.dropFirst()))
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(!run.warnings.contains { $0.contains("dancing") }, "\(run.warnings)")
    guard !surroundings.hasNamespaces else { return }
    let told = run.warnings.filter { $0.contains("seeing what else runs") }
    #expect(told.count == 2, "\(run.warnings)")
  }
}
