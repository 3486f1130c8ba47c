import Foundation
import TestSupport
import Testing

@Suite("What plugins there are, and what is wrong with them, is told before any work")
struct PluginCatalogTests {
  @Test("check shows every problem under its line, and what is missing on this machine")
  func check() throws {
    let place = try PluginPlace()
    try place.plugin(
      "bad", "run: [./gone]\nneeds: [no-such-program]",
      stages: "  - { kind: gate, type: sound, summary: x }")
    let result = try place.spool(["plugin", "check", "Plugins/bad"])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("Plugins/bad/plugin.yaml:5:7: error: ./gone is not there"))
    #expect(result.errorOutput.contains("  5 | run: [./gone]"), "\(result.errorOutput)")
    #expect(result.errorOutput.contains("6:9: error: no-such-program is not installed"))
    #expect(result.errorOutput.contains("8:13: error: \"gate\" is a stage of Spool's own"))
    #expect(result.errorOutput.contains("3 problems in Plugins/bad/plugin.yaml"))

    let lines = try place.spool(["plugin", "check", "Plugins/bad", "--json"])
    #expect(lines.exitCode == 2)
    #expect(lines.text.split(separator: "\n").count == 3)
    #expect(lines.text.contains(#""line":5"#), "\(lines.text)")
  }

  @Test("a program that is not executable, and one whose interpreter is missing, are told of")
  func programs() throws {
    let place = try PluginPlace()
    try place.plugin("one", "run: [./one]")
    try place.write("#!/no/such/python\n", to: "Plugins/one/one")
    let first = try place.spool(["plugin", "check", "one"])
    #expect(first.exitCode == 2)
    #expect(first.errorOutput.contains("./one is not executable"), "\(first.errorOutput)")
    #expect(first.errorOutput.contains("chmod +x "), "\(first.errorOutput)")
    unsafe chmod(place.file("Plugins/one/one"), 0o755)
    let second = try place.spool(["plugin", "check", "one"])
    #expect(second.errorOutput.contains("wants /no/such/python"), "\(second.errorOutput)")
    try place.write("#!/bin/sh\n", to: "Plugins/one/one")
    let third = try place.spool(["plugin", "check"])
    #expect(third.exitCode == 0, "\(third.errorOutput)")
    #expect(third.text == "Plugins/one/plugin.yaml: no problems\n")
  }

  @Test("a kind that is not there: where plugins were looked for, and how to add one")
  func missing() throws {
    let place = try PluginPlace()
    let path = try place.write(
      "pipeline: p\ninputs: { note: sound }\nstages:\n  - decode\n  - softclip\n",
      to: "pipelines/copied.yaml")
    for arguments in [["pipeline", "check", path], ["stages", "softclip"]] {
      let result = try place.spool(arguments)
      #expect(result.exitCode == 2)
      for words in [
        "there is no stage kind \"softclip\"", "\(place.file("data"))/spool/plugins",
        "/usr/share/spool/plugins", "with --plugins",
      ] { #expect(result.errorOutput.contains(words), "\(result.errorOutput)") }
    }
    let check = try place.spool(["pipeline", "check", path])
    #expect(check.errorOutput.contains(place.file("pipelines/Plugins")), "\(check.errorOutput)")
  }

  @Test("list tells how each plugin stands, in columns and as JSON")
  func list() throws {
    let place = try PluginPlace()
    #expect(try place.spool(["plugin"]).text.hasPrefix("no plugins here"))
    try place.plugin("good", "run: [sh]")
    try place.plugin("lame", "run: [no-such-program]")
    try place.plugin("odd", "run: [sh]\nnonsense: 1")
    let table = try place.spool(["plugin", "list"])
    #expect(table.exitCode == 0)
    let lines = table.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(lines[1] == ["good", "1.0.0", "good", "ready", "Plugins/good"])
    #expect(lines[2] == ["lame", "1.0.0", "lame", "needs", "no-such-program", "Plugins/lame"])
    #expect(lines[3] == ["odd", "–", "–", "manifest", "wrong", "Plugins/odd"])
    let json = try place.spool(["plugin", "list", "--json"]).text.split(separator: "\n")
    #expect(json.count == 3)
    #expect(json[1].contains(#""ready":false,"state":"needs no-such-program""#), "\(json[1])")
  }

  @Test("show tells all that a plugin offers, and a name with a slip is guessed")
  func show() throws {
    let place = try PluginPlace()
    try place.plugin(
      "warmth", "run: [sh]",
      stages: """
          - kind: warmth
            type: sound
            summary: Make it warm
            parameters: [{ name: drive, unit: dB, range: [0, 36], default: 6, help: how much }]
        """)
    let page = try place.spool(["plugin", "show", "warmth"])
    #expect(page.exitCode == 0, "\(page.errorOutput)")
    for word in ["warmth 1.0.0", "4096 MB, 60 s", "drive", "0 dB … 36 dB", "how much"] {
      #expect(page.text.contains(word), "\(word) in \(page.text)")
    }
    let slip = try place.spool(["plugin", "show", "warmht"])
    #expect(slip.exitCode == 2)
    #expect(slip.errorOutput.contains("did you mean warmth?"), "\(slip.errorOutput)")
    #expect(Complaint(slip.errorOutput) != nil, "\(slip.errorOutput)")
  }

  @Test("a pipeline that uses what plugins quarrel about is told which folders to look into")
  func quarrels() throws {
    let place = try PluginPlace()
    try place.plugin("a", "run: [sh]", stages: "  - { kind: hum, type: sound, summary: x }")
    try place.plugin("b", "run: [sh]", stages: "  - { kind: hum, type: sound, summary: x }")
    try place.plugin("c", "run: [sh]", named: "twin")
    try place.plugin("d", "run: [sh]", named: "twin")
    let pipeline = try place.write(
      "pipeline: p\ninputs: { note: sound }\nstages: [decode, hum, c]\n", to: "p.yaml")
    let result = try place.spool(["pipeline", "check", pipeline])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("more than one plugin offers hum: "))
    #expect(result.errorOutput.contains("more than one plugin is called twin: "))
    #expect(result.errorOutput.contains("Plugins/a"), "\(result.errorOutput)")
    let named = try place.spool(["plugin", "show", "twin"])
    #expect(named.exitCode == 2)
    #expect(named.errorOutput.contains("more than one plugin is called twin"))
    let check = try place.spool(["plugin", "check"])
    #expect(check.exitCode == 2)
    #expect(check.errorOutput.contains("\"hum\" is offered by "), "\(check.errorOutput)")
    #expect(check.errorOutput.contains("has the same name"), "\(check.errorOutput)")
  }
}
