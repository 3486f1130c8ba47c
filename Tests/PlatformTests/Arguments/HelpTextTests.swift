import Testing
import Platform

@Suite("Help")
struct HelpTextTests {
  @Test("explains the program, its commands in groups")
  func program() {
    #expect(
      Fixture.program.help(for: .program) == """
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
  func command() throws {
    #expect(
      try Fixture.help("run") == """
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
  func synopsis() throws {
    let help = try Fixture.help("show")
    #expect(help.contains("Usage: spool show [RUN] [options]\n"))
  }

  @Test("with colours, headings are bold and what is typed has one; the text is the same")
  func colours() {
    let subjects = [.program] + Fixture.program.commands.map { HelpSubject.command($0) }
    for subject in subjects {
      for width in [40, 80] {
        let coloured = Fixture.program.help(for: subject, width: width, isColored: true)
        #expect(coloured.contains("\u{1B}[1mUsage:\u{1B}[0m \u{1B}[36mspool "))
        #expect(coloured.contains(/\u{1B}\[1mOptions[a-z ]*:\u{1B}\[0m\n/))
        #expect(coloured.contains("  \u{1B}[36m-h, --help\u{1B}[0m "), "\(coloured)")
        let plain = ["[0m", "[1m", "[36m"].reduce(coloured) { text, colour in
          text.replacing("\u{1B}" + colour, with: "")
        }
        #expect(plain == Fixture.program.help(for: subject, width: width))
      }
    }
  }

  @Test("keeps within the terminal's width", arguments: [40, 44, 57, 80, 99])
  func width(width: Int) {
    let subjects = [.program] + Fixture.program.commands.map { HelpSubject.command($0) }
    for subject in subjects {
      let lines = Fixture.program.help(for: subject, width: width).split(separator: "\n")
      #expect(lines.allSatisfy { $0.count <= width })
      #expect(lines.allSatisfy { $0.last != " " })
    }
  }

  @Test("loses no word by being wrapped", arguments: [1, 40, 53, 1000])
  func words(width: Int) throws {
    let help = try Fixture.help("run", width: width)
    let wide = try Fixture.help("run")
    #expect(
      help.split(whereSeparator: \.isWhitespace) == wide.split(whereSeparator: \.isWhitespace))
  }

  @Test("wraps an explanation under itself, and gives a long term a line of its own")
  func table() throws {
    let help = try Fixture.help("run", width: 40)
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
