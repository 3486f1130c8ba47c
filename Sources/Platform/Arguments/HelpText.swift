extension ProgramDeclaration {
  /// What `--help` shows; it ends in a line feed.
  ///
  /// - Parameters:
  ///   - width: The columns of the terminal. Lines are no longer than that, but for examples and
  ///     words that cannot be broken; nor are they ever longer than 100 columns, which are harder to
  ///     read.
  ///   - isColored: Whether headings are bold, and what is typed has a colour.
  package func help(
    for subject: HelpSubject, width: Int = 80, isColored: Bool = false
  ) -> String {
    let help = HelpText(
      program: self, layout: TextLayout(width: width, isColored: isColored))
    let sections =
      switch subject {
      case .program: help.sections()
      case .family(let family): help.sections(for: family)
      case .command(let command): help.sections(for: command)
      case .guide(let guide): help.sections(for: guide)
      }
    return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }
      .joined(separator: "\n\n") + "\n"
  }
}

/// The sections of help, each as its lines.
struct HelpText {
  let program: ProgramDeclaration
  let layout: TextLayout

  func sections() -> [[String]] {
    let guides = Table(
      title: "Guides",
      rows: program.guides.map { TextLayout.Row(term: "help \($0.name)", text: $0.summary) })
    let tables =
      groups() + [
        guides, Table(title: "Options", rows: program.options(for: nil).map(row(for:))),
      ]
    return [
      layout.paragraph(program.summary),
      layout.usage([program.name, "COMMAND", "[options]"]),
    ] + lines(of: tables) + [
      layout.paragraph("'\(program.name) help COMMAND' explains a command.")
    ]
  }

  func sections(for family: CommandFamily) -> [[String]] {
    let tables = [
      Table(title: "Commands", rows: program.members(of: family).map(row(for:))),
      Table(
        title: "Options of every command",
        rows: (program.globalOptions + [.help]).map(row(for:))),
    ]
    return [
      layout.paragraph(family.summary),
      layout.usage(["\(program.name) \(family.name)", "COMMAND", "[options]"]),
    ] + lines(of: tables) + [layout.paragraph(note(on: family))]
  }

  /// What its name means alone, and where its commands are explained.
  func note(on family: CommandFamily) -> String {
    let name = "\(program.name) \(family.name)"
    let usual = family.usual.map { "'\(name)' alone is '\(name) \($0)'. " } ?? ""
    return "\(usual)'\(program.name) help \(family.name) COMMAND' explains a command."
  }

  func sections(for guide: HelpGuide) -> [[String]] {
    let blocks = guide.text.split(separator: "\n", omittingEmptySubsequences: false)
      .split { $0.allSatisfy(\.isWhitespace) }
    return [layout.paragraph(guide.summary)]
      + blocks.map { lines in
        lines.contains { $0.hasPrefix(" ") }
          ? lines.map(String.init) : layout.paragraph(lines.joined(separator: " "))
      }
  }

  func sections(for command: CommandDeclaration) -> [[String]] {
    let tables = [
      Table(title: "Arguments", rows: command.positionals.map(row(for:))),
      Table(title: "Options", rows: command.options.map(row(for:))),
      Table(
        title: "Options of every command",
        rows: (program.globalOptions + [.help]).map(row(for:))),
    ]
    return [
      layout.paragraph(command.summary),
      layout.usage(
        [program.name, command.name] + command.positionals.map(\.synopsis) + ["[options]"]),
      layout.paragraphs(command.discussion),
    ] + lines(of: tables) + [examples(of: command)]
  }

  struct Table {
    let title: String
    let rows: [TextLayout.Row]
  }

  private func lines(of tables: [Table]) -> [[String]] {
    let column = layout.column(for: tables.map(\.rows))
    return tables.filter { !$0.rows.isEmpty }
      .map { [layout.heading("\($0.title):")] + layout.table($0.rows, column: column) }
  }

  // Groups stand in the order of their first commands, wherever the others are declared.
  func groups() -> [Table] {
    var names: [String] = []
    for command in program.commands where !names.contains(command.group) {
      names.append(command.group)
    }
    return names.map { name in
      var told: Set<String> = []
      let commands = program.commands.filter {
        $0.group == name && told.insert($0.firstWord).inserted
      }
      return Table(
        title: name,
        rows: commands.map { command in
          let family = program.family(named: command.firstWord)
          return family.map(row(for:)) ?? TextLayout.Row(term: command.name, text: command.summary)
        })
    }
  }

  /// The row of a family names its commands.
  private func row(for family: CommandFamily) -> TextLayout.Row {
    TextLayout.Row(
      term: family.name, text: family.summary,
      notes: [program.members(of: family).map(\.lastWord).joined(separator: ", ")])
  }

  /// The row of a command in the help of its family.
  func row(for command: CommandDeclaration) -> TextLayout.Row {
    TextLayout.Row(term: command.lastWord, text: command.summary)
  }

  func row(for positional: PositionalDeclaration) -> TextLayout.Row {
    TextLayout.Row(
      term: positional.name, text: positional.help, notes: [choices(of: positional.rule)])
  }

  func row(for option: OptionDeclaration) -> TextLayout.Row {
    // Long names line up whether or not there is a short one.
    let short = option.short.map { "-\($0), " } ?? "    "
    let value = option.placeholder.map { " " + $0 } ?? ""
    return TextLayout.Row(
      term: short + option.spelling + value, text: option.help,
      notes: [
        choices(of: option.rule), option.isRepeatable ? "repeatable" : nil,
        option.defaultText.map { "default: \($0)" },
      ])
  }

  private func choices(of rule: ValueRule) -> String? {
    rule.choices.isEmpty ? nil : rule.expectation
  }

  private func examples(of command: CommandDeclaration) -> [String] {
    command.examples.isEmpty
      ? []
      : [layout.heading("Examples:")]
        + command.examples.flatMap {
          layout.paragraph($0.purpose + ":", indent: 2) + [layout.typed("    " + $0.line)]
        }
  }
}

/// Formats plain text for a terminal of a given width, one column per character.
struct TextLayout {
  /// One line of a table: a term, its explanation, and what stands in brackets behind that.
  struct Row {
    let term: String
    let text: String
    var notes: [String?] = []

    var explanation: String {
      let notes = notes.compactMap { $0 }
      return notes.isEmpty ? text : text + " (" + notes.joined(separator: "; ") + ")"
    }
  }

  private let width: Int
  private let isColored: Bool

  /// Clamps `width` to 40 … 100 columns.
  init(width: Int, isColored: Bool = false) {
    self.width = min(max(width, 40), 100)
    self.isColored = isColored
  }

  /// A heading, bold where there are colours.
  func heading(_ text: String) -> String { coloured(text, "\u{1B}[1m") }

  /// What a user types, in a colour where there are some. Spaces before it have none.
  func typed(_ text: String) -> String { coloured(text, "\u{1B}[36m") }

  private func coloured(_ text: String, _ colour: String) -> String {
    let word = text.drop { $0 == " " }
    guard isColored, !word.isEmpty else { return text }
    return text.prefix(text.count - word.count) + colour + word + "\u{1B}[0m"
  }

  /// Text wrapped between words, every line but the first indented by `hang` more than `indent`.
  func paragraph(_ text: String, indent: Int = 0, hang: Int = 0) -> [String] {
    wrap(text.split(whereSeparator: \.isWhitespace).map(String.init), indent: indent, hang: hang)
  }

  /// Paragraphs that an empty line separates.
  func paragraphs(_ text: String) -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let paragraphs = lines.split { line in line.allSatisfy(\.isWhitespace) }
    let wrapped = paragraphs.map { self.paragraph($0.joined(separator: " ")) }
    return Array(wrapped.joined(separator: [""]))
  }

  /// A usage line, broken between its parts.
  func usage(_ parts: [String]) -> [String] {
    let title = "Usage:"
    let lines = wrap([title] + parts, indent: 0, hang: 7)
    return lines.prefix(1).map { heading(title) + typed(String($0.dropFirst(title.count))) }
      + lines.dropFirst().map(typed)
  }

  /// The column of explanations in all `tables`: behind the longest term that leaves them two
  /// thirds of the width.
  func column(for tables: [[Row]]) -> Int {
    (tables.joined().map(\.term.count).filter { $0 <= width / 3 }.max() ?? 0) + 4
  }

  /// Terms on the left, their explanations from `column` on. A term too long for that has a line
  /// of its own.
  func table(_ rows: [Row], column: Int) -> [String] {
    rows.flatMap { row in
      let term = "  " + row.term
      let lines = paragraph(row.explanation, indent: column)
      guard let first = lines.first else { return [typed(term)] }
      if term.count + 2 > column { return [typed(term)] + lines }
      return [typed(term) + first.dropFirst(term.count)] + lines.dropFirst()
    }
  }

  private func wrap(_ words: [String], indent: Int, hang: Int) -> [String] {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var isLineEmpty = true
    for word in words {
      if !isLineEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = String(repeating: " ", count: indent + hang)
        isLineEmpty = true
      }
      line += isLineEmpty ? word : " " + word
      isLineEmpty = false
    }
    return isLineEmpty ? lines : lines + [line]
  }
}

extension ProgramDeclaration {
  /// The manual page of a command, a family of commands or the whole program, in the man macros of
  /// roff. A guide's is that of the program, which holds it.
  package func manPage(for subject: HelpSubject) -> String {
    let page = ManPage(program: self, help: HelpText(program: self, layout: TextLayout(width: 80)))
    let lines =
      switch subject {
      case .program, .guide: page.lines()
      case .family(let family): page.lines(for: family)
      case .command(let command): page.lines(for: command)
      }
    return lines.map { $0 + "\n" }.joined()
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
      + program.guides.flatMap { guide in
        [".SH " + escaped(guide.name.uppercased())] + paragraphs(guide.summary)
          + self.guide(guide.text)
      }
      + [".SH OPTIONS"] + list(program.options(for: nil).map(help.row(for:)))
      + seeAlso(program.families.map(\.name) + program.commands.map(\.name))
  }

  func lines(for family: CommandFamily) -> [String] {
    let members = program.members(of: family)
    return header(page(of: family.name), family.summary)
      + [
        ".SH SYNOPSIS",
        "\(bold("\(program.name) \(family.name)")) \(italic("COMMAND")) [options]",
        ".SH DESCRIPTION",
      ] + paragraphs(help.note(on: family)) + section("COMMANDS", members.map(help.row(for:)))
      + section("OPTIONS", (program.globalOptions + [.help]).map(help.row(for:)))
      + seeAlso(members.map(\.name))
  }

  func lines(for command: CommandDeclaration) -> [String] {
    let places = command.positionals.map { italic($0.synopsis) } + ["[options]"]
    let description = command.discussion.isEmpty ? command.summary : command.discussion
    return header(page(of: command.name), command.summary)
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

  /// - Parameter name: a command's or a family's.
  private func page(of name: String) -> String {
    "\(program.name)-\(name.replacing(" ", with: "-"))"
  }

  private func seeAlso(_ names: [String]) -> [String] {
    [".SH SEE ALSO"]
      + names.enumerated().map { index, name in
        ".BR \(escaped(page(of: name))) (1)" + (index + 1 < names.count ? "," : "")
      }
  }

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

  /// The text of a guide; lines that begin with a space stand as they are.
  private func guide(_ text: String) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .split { $0.allSatisfy(\.isWhitespace) }
      .flatMap { lines in
        lines.contains { $0.hasPrefix(" ") }
          ? [".PP", ".nf"] + lines.map { line(String($0)) } + [".fi"]
          : [".PP", line(lines.joined(separator: " "))]
      }
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
