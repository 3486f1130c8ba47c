extension ProgramDeclaration {
  /// What `--help` shows for a command, or for the whole program if that is nil; it ends in a
  /// line feed.
  ///
  /// - Parameter width: The columns of the terminal. Lines are no longer than that, but for
  ///   examples and words that cannot be broken; nor are they ever longer than 100 columns,
  ///   which are harder to read.
  package func help(for command: CommandDeclaration?, width: Int = 80) -> String {
    let help = HelpText(program: self, layout: TextLayout(width: width))
    let sections = command.map(help.sections(for:)) ?? help.sections()
    return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }
      .joined(separator: "\n\n") + "\n"
  }
}

/// The sections of help, each as its lines.
struct HelpText {
  let program: ProgramDeclaration
  let layout: TextLayout

  func sections() -> [[String]] {
    let tables =
      groups() + [Table(title: "Options", rows: program.options(for: nil).map(row(for:)))]
    return [
      layout.paragraph(program.summary),
      layout.usage([program.name, "COMMAND", "[options]"]),
    ] + lines(of: tables) + [
      layout.paragraph("'\(program.name) help COMMAND' explains a command.")
    ]
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
      .map { ["\($0.title):"] + layout.table($0.rows, column: column) }
  }

  // Groups stand in the order of their first commands, wherever the others are declared.
  func groups() -> [Table] {
    var names: [String] = []
    for command in program.commands where !names.contains(command.group) {
      names.append(command.group)
    }
    return names.map { name in
      let commands = program.commands.filter { $0.group == name }
      return Table(
        title: name, rows: commands.map { TextLayout.Row(term: $0.name, text: $0.summary) })
    }
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
      : ["Examples:"]
        + command.examples.flatMap {
          layout.paragraph($0.purpose + ":", indent: 2) + ["    " + $0.line]
        }
  }
}

/// Formats plain text for a terminal of a given width, one column per character.
struct TextLayout {
  /// One line of a table: a term, its explanation, and what stands in brackets behind that.
  struct Row {
    let term: String
    let text: String
    let notes: [String?]

    init(term: String, text: String, notes: [String?] = []) {
      self.term = term
      self.text = text
      self.notes = notes
    }

    var explanation: String {
      let notes = notes.compactMap { $0 }
      return notes.isEmpty ? text : text + " (" + notes.joined(separator: "; ") + ")"
    }
  }

  private let width: Int

  /// Clamps `width` to 40 … 100 columns.
  init(width: Int) { self.width = min(max(width, 40), 100) }

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
    wrap(["Usage:"] + parts, indent: 0, hang: 7)
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
      guard let first = lines.first else { return [term] }
      if term.count + 2 > column { return [term] + lines }
      return [term + first.dropFirst(term.count)] + lines.dropFirst()
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
