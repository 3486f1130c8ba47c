extension ProgramDeclaration {
  /// The manual page of a command, or of the whole program if that is nil, in the man macros of roff.
  package func manPage(for command: CommandDeclaration?) -> String {
    let page = ManPage(program: self, help: HelpText(program: self, layout: TextLayout(width: 80)))
    return (command.map(page.lines(for:)) ?? page.lines()).map { $0 + "\n" }.joined()
  }
}

/// The lines of manual pages. Terms and explanations are those of `--help`.
struct ManPage {
  let program: ProgramDeclaration
  let help: HelpText

  func lines() -> [String] {
    header(program.name, program.summary) + [
      ".SH SYNOPSIS",
      "\(bold(program.name)) \(italic("COMMAND")) [options]",
      ".SH DESCRIPTION",
    ] + paragraphs(program.summary)
      + paragraphs("'\(program.name) help COMMAND' explains a command.")
      + [".SH COMMANDS"]
      + help.groups().flatMap { [".SS " + escaped($0.title)] + list($0.rows) }
      + [".SH OPTIONS"] + list(program.options(for: nil).map(help.row(for:)))
      + [".SH SEE ALSO"]
      + zip(program.commands.indices, program.commands).map { index, command in
        ".BR \(escaped(page(of: command))) (1)" + (index + 1 < program.commands.count ? "," : "")
      }
  }

  func lines(for command: CommandDeclaration) -> [String] {
    let places = command.positionals.map { italic($0.synopsis) } + ["[options]"]
    let description = command.discussion.isEmpty ? command.summary : command.discussion
    return header(page(of: command), command.summary)
      + [
        ".SH SYNOPSIS",
        ([bold("\(program.name) \(command.name)")] + places).joined(separator: " "),
        ".SH DESCRIPTION",
      ] + paragraphs(description) + section("ARGUMENTS", command.positionals.map(help.row(for:)))
      + section("OPTIONS", program.options(for: command).map(help.row(for:)))
      + (command.examples.isEmpty ? [] : [".SH EXAMPLES"])
      + command.examples.flatMap { example in
        paragraphs(example.purpose + ":") + [
          ".PP", ".RS 4", ".nf", line(example.line), ".fi", ".RE",
        ]
      } + [".SH SEE ALSO", ".BR \(escaped(program.name)) (1)"]
  }

  private func page(of command: CommandDeclaration) -> String { program.name + "-" + command.name }

  private func header(_ name: String, _ summary: String) -> [String] {
    let title = summary.hasSuffix(".") ? String(summary.dropLast()) : summary
    return [
      // Without hyphenation, what is shown can be searched and copied.
      ".TH \(escaped(name.uppercased())) 1 \"\" \"\(program.name) \(program.version)\"", ".nh",
      ".SH NAME", "\(escaped(name)) \\- \(escaped(title))",
    ]
  }

  private func section(_ title: String, _ rows: [TextLayout.Row]) -> [String] {
    rows.isEmpty ? [] : [".SH " + title] + list(rows)
  }

  private func list(_ rows: [TextLayout.Row]) -> [String] {
    rows.flatMap { row in
      [".TP", bold(String(row.term.drop { $0 == " " })), line(row.explanation)]
    }
  }

  private func paragraphs(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .split { $0.allSatisfy(\.isWhitespace) }
      .flatMap { [".PP", line($0.joined(separator: " "))] }
  }

  private func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }

  private func italic(_ text: String) -> String { "\\fI\(escaped(text))\\fR" }

  /// A line of text that roff cannot take for a request.
  private func line(_ text: String) -> String {
    let text = escaped(text)
    return text.first == "." ? "\\&" + text : text
  }

  /// Text in which every character stands for itself: unescaped, roff typesets quotes, dashes,
  /// tildes and carets.
  private func escaped(_ text: String) -> String {
    text.map { character in
      switch character {
      case "\\": "\\e"
      case "-": "\\-"
      case "'": "\\(aq"
      case "`": "\\(ga"
      case "~": "\\(ti"
      case "^": "\\(ha"
      case "\"": "\\(dq"
      default: String(character)
      }
    }.joined()
  }
}
