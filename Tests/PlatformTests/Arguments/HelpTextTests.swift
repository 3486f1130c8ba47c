import Testing
import Platform

@Suite("Help")
struct HelpTextTests {
  @Test("explains the program, its commands in groups")
  func program() {
    #expect(
      Fixture.program.help(for: nil) == """
        Process recordings.

        Usage: spool COMMAND [options]

        Run pipelines:
          run              Run a pipeline on recordings.
          show             Show a run.

        Set up:
          completion       Print a completion script.

        Options:
              --store DIR  Where the store is.
          -j, --json       Print JSON.
          -q, --quiet      Say less.
          -h, --help       Show this help.
              --version    Show the version.

        'spool help COMMAND' explains a command.

        """)
  }

  @Test("explains a command")
  func command() {
    #expect(
      Fixture.program.help(for: Fixture.program.command(named: "run")) == """
        Run a pipeline on recordings.

        Usage: spool run PIPELINE INPUT... [options]

        First paragraph.

        Second paragraph.

        Arguments:
          PIPELINE              The pipeline to run.
          INPUT                 Recordings.

        Options:
          -o, --out DIR         Where the exports go. (default: the input's folder)
          -s, --set NAME=VALUE  Replace a variable. (repeatable)
              --jobs N          Recordings at a time. (default: 2)
              --shell SHELL     Which shell. (one of bash, zsh)

        Options of every command:
              --store DIR       Where the store is.
          -j, --json            Print JSON.
          -q, --quiet           Say less.
          -h, --help            Show this help.

        Examples:
          Clean one note:
            spool run voice-note.yaml note.m4a

        """)
  }

  @Test("shows what may be left out")
  func synopsis() {
    let help = Fixture.program.help(for: Fixture.program.command(named: "show"))
    #expect(help.contains("Usage: spool show [RUN] [options]\n"))
  }

  @Test("keeps within the terminal's width", arguments: [40, 44, 57, 80, 99])
  func width(width: Int) {
    let commands: [CommandDeclaration?] = [nil] + Fixture.program.commands.map { $0 }
    for command in commands {
      let lines = Fixture.program.help(for: command, width: width).split(separator: "\n")
      #expect(lines.allSatisfy { $0.count <= width })
      #expect(lines.allSatisfy { $0.last != " " })
    }
  }

  @Test("loses no word by being wrapped", arguments: [1, 40, 53, 1000])
  func words(width: Int) {
    let help = Fixture.program.help(for: Fixture.program.command(named: "run"), width: width)
    let wide = Fixture.program.help(for: Fixture.program.command(named: "run"))
    #expect(
      help.split(whereSeparator: \.isWhitespace) == wide.split(whereSeparator: \.isWhitespace))
  }

  @Test("wraps an explanation under itself, and gives a long term a line of its own")
  func table() {
    let help = Fixture.program.help(for: Fixture.program.command(named: "run"), width: 40)
    #expect(
      help.contains(
        """
          -o, --out DIR  Where the exports go.
                         (default: the input's
                         folder)
          -s, --set NAME=VALUE
                         Replace a variable.
                         (repeatable)

        """))
  }
}
