import Foundation
import TestSupport
import Testing

@Suite(
  "What plugins and commands need is looked for before any work",
  .enabled(if: Program(named: "python3") != nil, "python3 is not installed"))
struct PluginEquipmentTests {
  private func pipeline(_ place: PluginPlace, _ step: String) throws -> String {
    try place.write(
      "pipeline: p\ninputs: { note: sound }\nstages:\n  - decode\n  - \(step)\n", to: "p.yaml")
  }

  @Test("by check-pipeline and by run, with the interpreter that the plugin is run by")
  func missing() throws {
    let place = try PluginPlace()
    try Reference.record(place.file("note.wav"), seconds: 0.1)
    try place.plugin("lame", "run: [no-such-program]")
    try place.plugin("bare", "run: [python3]\nneeds: { python: [json, no_such_package] }")
    for (step, column, words) in [
      ("lame", 5, "no-such-program is not installed"),
      ("bare", 5, "no_such_package, which the plugin bare needs, is not there for /"),
      (
        "command: { run: [no-such-program, '{input}'], outputs: [{ carries: measurement }] }",
        21, "no-such-program cannot be started"
      ),
    ] {
      let path = try pipeline(place, step)
      for arguments in [["pipeline", "check", path], ["run", path, place.file("note.wav")]] {
        let result = try place.spool(arguments)
        #expect(result.exitCode == 2)
        #expect(result.errorOutput.contains("p.yaml:5:\(column): error: "), "\(result.errorOutput)")
        #expect(result.errorOutput.contains(words), "\(result.errorOutput)")
      }
    }
    let check = try place.spool(["plugin", "check", "bare"])
    let told = check.errorOutput
    #expect(told.contains("6:25: error: no_such_package, which"), "\(told)")
  }

  @Test("a broken output is the failure of the stage that wrote it, and is not kept")
  func brokenOutput() throws {
    let place = try PluginPlace()
    try Reference.record(place.file("note.wav"), seconds: 0.1)
    for (carries, text, words) in [
      ("measurement", "[1,2", "cannot be read as JSON: line 1, "),
      ("transcript", "{garbage", "is no transcript: "),
      ("transcript", "hello there", "is no transcript: what it says tells no format"),
    ] {
      let path = try pipeline(
        place, "command: { run: [echo, '\(text)', '{input}'], outputs: [{ carries: \(carries) }] }")
      let result = try place.spool(["run", path, place.file("note.wav")])
      #expect(result.exitCode == 1)
      let told = result.errorOutput
      #expect(told.contains("the output that it wrote \(words)"), "\(told)")
    }
  }

  @Test("a folder of plugins that is not there, and one plugin in two folders, are each one error")
  func folders() throws {
    let place = try PluginPlace()
    let path = try pipeline(place, "twin")
    let missing = try place.spool(["pipeline", "check", path, "--plugins", "nowhere"])
    #expect(missing.exitCode == 2)
    #expect(missing.errorOutput.contains("there are no plugins in nowhere"))
    try place.plugin("twin", "run: [sh]")
    try FileManager.default.createDirectory(
      atPath: place.file("more"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      atPath: place.file("Plugins/twin"), toPath: place.file("more/twin"))
    let twice = try place.spool(["pipeline", "check", path, "--plugins", "more"])
    #expect(twice.errorOutput.contains("p.yaml:5:5: error: more than one plugin is called twin: "))
    #expect(twice.errorOutput.contains("1 problem in"), "\(twice.errorOutput)")
  }
}
