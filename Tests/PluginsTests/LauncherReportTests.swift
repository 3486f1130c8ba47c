import Foundation
@testable import Plugins
import TestSupport
import Testing

@Suite("What a launcher tells is its own, whatever the program writes")
struct LauncherReportTests {
  @Test("it is put together from pieces, and what means nothing is skipped")
  func pieces() {
    let notices: [LauncherReport.Notice] = [
      .missing("seeing\nwhat else runs"), .left(3), .failed("cannot start x: no such file"),
    ]
    let bytes = Array("nonsense\n{}\n".utf8) + notices.flatMap(\.line)
    var report = LauncherReport()
    for byte in bytes { report.take([byte]) }
    #expect(report.missing == ["seeing\nwhat else runs"])
    #expect(report.trouble == "cannot start x: no such file")
    #expect(report.left == 3)
    #expect(report.remnant?.hasPrefix("3 processes that it started") == true)
    #expect(LauncherReport().remnant == nil)
    #expect(LauncherReport().warnings(of: "x") == [])
  }

  /// A sound plugin, or a command, that says on standard error what looks like a launcher's words, and
  /// then so much that nothing that came before is kept.
  private static let noise = """
    import sys
    print('{"missing":{"_0":"dancing"}}', file=sys.stderr)
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
