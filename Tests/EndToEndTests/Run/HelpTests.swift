import Foundation
import TestSupport
import Testing

@Suite("The command line explains itself")
struct HelpTests {
  static let commands = [
    "run", "batch", "watch", "resume", "status", "runs", "why", "search", "words", "inbox",
    "play", "normalize", "convert", "clean", "trim", "mix", "pipeline", "stages", "plugin",
    "verify", "proof", "store", "completion",
  ]

  static let twoWords = [
    "runs list", "runs show", "runs forget", "pipeline list", "pipeline new", "pipeline check",
    "pipeline plan", "pipeline graph", "pipeline schema", "pipeline crashtest", "proof quote",
    "proof stamp", "proof key", "proof ledger", "store info", "store check", "store prune",
    "store repair", "store gc",
    "store backup", "store restore",
  ]

  @Test("--help lists every command, and the first that a newcomer needs come first")
  func help() throws {
    let result = try Workspace().spool(["--help"])
    #expect(result.exitCode == 0)
    #expect(result.errorOutput == "")
    for command in Self.commands { #expect(result.text.contains("  \(command) "), "\(command)") }
    let rows = result.text.split(separator: "\n").filter {
      $0.hasPrefix("  ") && !$0.hasPrefix("   ")
    }
    let first = rows.prefix(5).compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(first == ["run", "batch", "watch", "resume", "status"])
  }

  @Test("every command explains itself, and so does help COMMAND", arguments: commands + twoWords)
  func helpOfCommand(command: String) throws {
    let place = try Workspace()
    let words = command.split(separator: " ").map(String.init)
    let result = try place.spool(words + ["--help"])
    #expect(result.exitCode == 0)
    #expect(result.errorOutput == "")
    #expect(result.text.contains("Usage: spool \(command)"))
    #expect(result.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(try place.spool(["help"] + words).text == result.text)
    #expect(!FileManager.default.fileExists(atPath: place.store), "help made a store")
  }

  @Test("--version says the version")
  func version() throws {
    let result = try Workspace().spool(["--version"])
    #expect(result.exitCode == 0)
    #expect(result.text.wholeMatch(of: /spool \d+\.\d+\.\d+\n/) != nil, "\(result.text)")
  }

  @Test(
    "a slip of the finger gives exit code 2 and the word that was probably meant",
    arguments: [
      (["runn", "x"], "run"), (["pipeline", "chekc", "x"], "pipeline check"),
      (["gc"], "store gc"),
      (["run", "a", "b", "--repalce"], "--replace"), (["stages", "gat"], "gate"),
      (["pipeline", "graph", "x", "--format", "dto"], "dot"), (["completion", "fisch"], "fish"),
      (["run"], "PIPELINE"), (["runs", "--limit", "many"], "whole number"),
    ])
  func slips(arguments: [String], word: String) throws {
    let place = try Workspace()
    let result = try place.spool(arguments)
    #expect(result.exitCode == 2)
    #expect(result.text == "")
    #expect(result.errorOutput.contains(word), "\(result.errorOutput)")
    #expect(Workspace.names(in: place.folder.path) == [], "it left something behind")
  }

  @Test("what is piped holds no control sequences, whatever the terminal is called")
  func noEscapes() throws {
    let place = try Workspace()
    let bad = try place.pipeline("pipeline: bad\nstages: [eqq]\n")
    let commands = [
      ["--help"], ["stages", "eq"], ["runs"], ["pipeline", "check", bad], ["run", bad, "x"],
    ]
    for command in commands {
      for environment in [["TERM": "xterm-256color"], ["TERM": "xterm", "NO_COLOR": "1"]] {
        let result = try place.spool(command, environment: environment)
        #expect(!(result.text + result.errorOutput).contains("\u{1B}"), "\(command)")
      }
    }
  }

  @Test(
    "on a terminal help has colours, unless NO_COLOR is set or the terminal has none",
    .enabled(if: Program(named: "python3") != nil, "python3 is not installed"),
    arguments: [("xterm-256color", "", true), ("xterm-256color", "1", false), ("dumb", "", false)])
  func colours(terminal: String, noColor: String, isColored: Bool) throws {
    let place = try Workspace()
    let python = try #require(Program(named: "python3"))
    let code = """
      import os, pty, sys
      os.environ.update(TERM='\(terminal)', NO_COLOR='\(noColor)')
      sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
      """
    for command in [["--help"], ["run", "--help"]] {
      let result = try place.spool(command, under: python, ["-c", code])
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      #expect(result.text.contains("Options"))
      #expect(result.text.contains("\u{1B}[1mUsage:\u{1B}[0m") == isColored, "\(result.text)")
      #expect(result.text.contains("\u{1B}") == isColored)
    }
  }

  @Test("shells are told the names of runs, stage kinds, pipelines and variables")
  func names() throws {
    let place = try Workspace()
    func names(_ kind: String, _ typed: [String] = []) throws -> [String] {
      let result = try place.spool(["completion", "names", kind, "--"] + typed)
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      return result.text.split(separator: "\n").map(String.init)
    }
    #expect(try names("runs").isEmpty)
    #expect(!FileManager.default.fileExists(atPath: place.store), "completion made a store")
    let pipeline = try place.pipeline(
      """
      pipeline: p
      inputs: { note: sound }
      vars: { loudness: -16 LUFS, cut: 80 Hz }
      stages:
        - decode
        - eq: { bands: [{ type: highpass, frequency: $cut }] }
        - normalize: { loudness: $loudness }
      """)
    let sound = place.folder.path + "/a.wav"
    try Reference.record(sound, seconds: 1, channels: 1)
    let elsewhere = place.file("other")
    #expect(try place.spool(["run", pipeline, sound]).exitCode == 0)
    #expect(try place.spool(["run", pipeline, sound, "--store", elsewhere]).exitCode == 0)
    let runs = try names("runs")
    let others = try names("runs", ["--store", elsewhere])
    #expect(runs.count == 2 && runs.last == "last" && runs != others)
    #expect(try names("runs", ["--store=" + elsewhere]) == others)
    #expect(try names("stages").contains("gate"))
    #expect(try names("pipelines").contains("voice-note"))
    #expect(try names("variables", ["run", pipeline, "--set"]) == ["cut=", "loudness="])
    let stages = ["decode", "eq", "normalize"]
    #expect(try names("run-stages", ["why", "last"]) == stages)
    #expect(try names("run-stages", ["why", "--store", elsewhere, others[0]]) == stages)
    #expect(try names("run-stages", ["play", "last"]) == stages + ["before", "after"])
    #expect(try names("run-stages", ["why"]).isEmpty)
    #expect(try names("open-runs").isEmpty, "a finished run cannot be resumed")
    #expect(try names("ran-pipelines") == ["p"])
    #expect(try names("commands", ["completion", "man", "store"]).contains("check"))
    #expect(try names("commands", ["completion", "man"]).contains("store"))
    #expect(try place.spool(["completion", "names", "nonsense"]).exitCode == 2)
  }

  @Test(
    "zsh offers the names that the program lists",
    .enabled(if: Program(named: "zsh") != nil, "zsh is not installed"),
    arguments: [
      ("why last ", "decode"), ("run voice", "voice-note"), ("runs show ", "last"),
      ("runs --store STORE show ", "last"), ("play last d", "decode"),
      ("completion man store ch", "check"), ("search x --pipeline ", "p"),
    ])
  func zsh(line: String, offer: String) throws {
    let zsh = try #require(Program(named: "zsh"))
    let place = try Workspace()
    let pipeline = try place.pipeline("pipeline: p\nstages: [decode]\n")
    let sound = place.file("a.wav")
    try Reference.record(sound, seconds: 0.3, channels: 1)
    #expect(try place.spool(["run", pipeline, sound]).exitCode == 0)
    try place.folder.write(try place.spool(["completion", "zsh"]).text, to: "_spool")
    // Tab completes and leaves the shell. What is offered is written down as it is added.
    try place.folder.write(
      """
      PS1='READY>'
      path=(\(URL(fileURLWithPath: try SpoolProgram.program.path).deletingLastPathComponent().path) $path)
      fpath=($ZDOTDIR $fpath)
      autoload -Uz compinit && compinit -u -D
      compadd() {
        local -a found
        builtin compadd -A found "$@"
        print -rl -- $found >>$ZDOTDIR/offers
        builtin compadd "$@"
      }
      complete-and-leave() { zle expand-or-complete; exit }
      zle -N complete-and-leave
      bindkey '^I' complete-and-leave
      """, to: ".zshrc")
    let typist = try place.folder.write(
      """
      zmodload zsh/zpty
      zpty shell zsh -d -i
      zpty -r shell seen '*READY>*'
      zpty -w -n shell "spool $1"$'\\t'
      while zpty -r shell seen; do :; done
      """, to: "typist.zsh")
    let typed = line.replacing("STORE", with: place.store)
    let result = try zsh.run(
      ["-f", typist, typed],
      environment: place.environment.merging(["ZDOTDIR": place.folder.path, "TERM": "xterm"]) {
        $1
      }, folder: place.folder.path)
    let offers = (try? String(contentsOfFile: place.file("offers"), encoding: .utf8)) ?? ""
    #expect(offers.split(separator: "\n").contains(Substring(offer)), "\(offers)\(result.text)")
  }

  @Test("completion scripts are taken by their shells", arguments: ["bash", "zsh", "fish"])
  func completion(shell: String) throws {
    let place = try Workspace()
    let result = try place.spool(["completion", shell])
    #expect(result.exitCode == 0)
    for command in Self.commands { #expect(result.text.contains(command), "\(command)") }
    if let program = Program(named: shell) {
      let script = try place.folder.write(result.text, to: "completion")
      let check = try program.run(["-n", script])
      #expect(check.exitCode == 0, "\(check.errorOutput)")
    }
  }
}
