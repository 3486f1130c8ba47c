import Foundation
import TestSupport
import Testing
import Platform

@Suite("The completion script for bash", .enabled(if: Bash.program != nil, "bash is not installed"))
struct BashCompletionTests {
  @Test(
    "offers what may come next",
    arguments: [
      ("spool |", ["run", "completion", "show", "help"]),
      ("spool r|", ["run"]),
      ("spool --json s|", ["show"]),
      ("spool --store somewhere s|", ["show"]),
      ("spool --st|", ["--store"]),
      (
        "spool run --|",
        ["--out", "--set", "--jobs", "--shell", "--store", "--json", "--quiet", "--help"]
      ),
      ("spool run p.yaml --o|", ["--out"]),
      ("spool help |", ["run", "completion", "show"]),
      ("spool help s|", ["show"]),
      ("spool completion |", ["bash", "zsh"]),
      ("spool -q completion -j z|", ["zsh"]),
      ("spool run --shell |", ["bash", "zsh"]),
      ("spool run --shell z|", ["zsh"]),
      ("spool completion bash |", []),
      ("spool run --jobs |", []),
      ("spool frobnicate |", []),
    ])
  func words(line: String, offers: [String]) throws {
    #expect(try Bash.offers(for: line).sorted() == offers.sorted())
  }

  @Test(
    "offers files and folders as declared",
    arguments: [
      ("spool run |", ["a.yaml", "B.YML", "Folder", "no:te.yaml"]),
      ("spool run -- |", ["a.yaml", "B.YML", "Folder", "no:te.yaml"]),
      ("spool run a.yaml |", ["a.yaml", "B.YML", "Folder", "no:te.yaml", "two words.m4a", "yaml"]),
      ("spool run a.yaml x y t|", ["two words.m4a"]),
      ("spool run --jobs 2 a.yaml -q t|", ["two words.m4a"]),
      ("spool run --jobs=2 a.yaml t|", ["two words.m4a"]),
      ("spool run -s a=b a.yaml t|", ["two words.m4a"]),
      ("spool run -sa=b a.yaml t|", ["two words.m4a"]),
      ("spool run --out |", ["Folder"]),
      ("spool run -o F|", ["Folder"]),
      ("spool run -qo F|", ["Folder"]),
      ("spool --store |", ["Folder"]),
      ("spool run Folder/|", ["Folder/inner.yaml"]),
    ])
  func files(line: String, offers: [String]) throws {
    #expect(try Bash.offers(for: line).sorted() == offers.sorted())
  }

  @Test(
    "offers only what bash replaces, which cuts words at equals signs and colons",
    arguments: [
      ("spool run --shell=|", ["bash", "zsh"]),
      ("spool run --shell=z|", ["zsh"]),
      ("spool run --out=F|", ["Folder"]),
      ("spool --store=|", ["Folder"]),
      ("spool run no:|", ["te.yaml"]),
      ("spool run no:t|", ["te.yaml"]),
    ])
  func cutWords(line: String, offers: [String]) throws {
    #expect(try Bash.offers(for: line).sorted() == offers)
  }

  @Test(
    "offers the second words of commands, and the options of the command that a family's name means",
    arguments: [
      ("spool |", ["runs", "store", "help"]), ("spool store |", ["check", "gc"]),
      ("spool store c|", ["check"]), ("spool store check --|", ["--store", "--help"]),
      ("spool runs |", ["list", "show", "forget"]), ("spool runs --|", ["--jobs", "--help"]),
      ("spool runs list --|", ["--jobs", "--help"]), ("spool help |", ["runs", "store", "units"]),
      ("spool help store |", ["check", "gc"]), ("spool store check |", []),
    ])
  func families(line: String, offers: [String]) throws {
    #expect(try Bash.offers(for: line, program: Fixture.grouped).sorted() == offers.sorted())
  }

  @Test(
    "asks the program for names, and tells it the words that were typed",
    arguments: [
      ("spool runs forget |", ["runs-a", "runs-b"]), ("spool runs forget runs-b|", ["runs-b"]),
      ("spool runs forget --store s |", ["runs-a", "runs-b", "s"]),
      ("spool runs forget --from |", ["runs-a", "runs-b", "a.yaml", "no:te.yaml", "Folder"]),
      ("spool runs forget --from a|", ["a.yaml"]),
    ])
  func names(line: String, offers: [String]) throws {
    let found = try Bash.offers(for: line, program: Fixture.grouped, script: Shells.naming)
    #expect(found.sorted() == offers.sorted())
  }

  @Test("offers whole words where bash does not cut them")
  func uncutWords() throws {
    #expect(try Bash.offers(for: "spool run --shell=z|", breaks: " \t\n") == ["--shell=zsh"])
    #expect(try Bash.offers(for: "spool run no:t|", breaks: " \t\n") == ["no:te.yaml"])
  }

  @Test("says nothing and defines nothing but functions of its own when it is loaded")
  func loading() throws {
    let bash = try #require(Bash.program)
    let folder = try ScratchFolder()
    let script = try folder.write(CompletionScript.bash(Fixture.program).text, to: "script")
    let result = try bash.run([
      "--norc", "-uec", "before=$(compgen -A function -v); source '\(script)'; complete -p spool",
    ])
    #expect(result.text == "complete -F _spool spool\n")
    #expect(result.errorOutput == "")
    #expect(result.exitCode == 0)
  }
}

/// Drives the completion function as bash does when the user presses the tabulator key.
enum Bash {
  static let program = Program(named: "bash")

  /// What is offered at the bar in `line`; `breaks` is where bash cuts words.
  static func offers(
    for line: String, breaks: String = " \t\n\"'><=;|&(:",
    program declaration: ProgramDeclaration = Fixture.program, script: String? = nil
  ) throws -> [String] {
    let bash = try #require(program)
    let folder = try ScratchFolder()
    for file in ["a.yaml", "B.YML", "no:te.yaml", "two words.m4a", "yaml"] {
      try folder.write("", to: file)
    }
    try FileManager.default.createDirectory(
      atPath: folder.file("Folder"), withIntermediateDirectories: false)
    try folder.write("", to: "Folder/inner.yaml")

    let programs = try ScratchFolder()
    if let script {
      let path = try programs.write(script, to: "spool")
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
    let words = cut(String(line.prefix { $0 != "|" }), at: breaks.filter { "=:".contains($0) })
    let scriptFolder = try ScratchFolder()
    try scriptFolder.write(CompletionScript.bash(declaration).text, to: "script")
    let driver = """
      source "$1"; shift
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      _spool spool "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
      ((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
      exit 0
      """
    let result = try bash.run(
      [
        "--norc", "-c", "PATH=\(programs.path):$PATH; " + driver, "driver",
        scriptFolder.file("script"),
      ] + words, folder: folder.path)
    #expect(result.errorOutput == "")
    return result.text.split(separator: "\n").map(String.init)
  }

  // Bash makes a word of each run of characters that it cuts at.
  private static func cut(_ line: String, at breaks: String) -> [String] {
    line.split(separator: " ", omittingEmptySubsequences: false).flatMap { word in
      var pieces: [String] = [""]
      var wasBreak: Bool?
      for character in word {
        let isBreak = breaks.contains(character)
        if let wasBreak, wasBreak != isBreak { pieces.append("") }
        pieces[pieces.count - 1].append(character)
        wasBreak = isBreak
      }
      return pieces
    }
  }
}
