extension ProgramDeclaration {
  /// What `--help` shows for a command, or for the whole program if that is nil; it ends in a
  /// line feed.
  ///
  /// - Parameter width: The columns of the terminal. Lines are no longer than that, but for
  ///   examples and words that cannot be broken; nor are they ever longer than 100 columns,
  ///   which are harder to read.
  public func help(for command: CommandDeclaration?, width: Int = 80) -> String {
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

  private struct Table {
    let title: String
    let rows: [TextLayout.Row]
  }

  private func lines(of tables: [Table]) -> [[String]] {
    let column = layout.column(for: tables.map(\.rows))
    return tables.filter { !$0.rows.isEmpty }
      .map { ["\($0.title):"] + layout.table($0.rows, column: column) }
  }

  // Groups stand in the order of their first commands, wherever the others are declared.
  private func groups() -> [Table] {
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

  private func row(for positional: PositionalDeclaration) -> TextLayout.Row {
    TextLayout.Row(
      term: positional.name, text: positional.help, notes: [choices(of: positional.rule)])
  }

  private func row(for option: OptionDeclaration) -> TextLayout.Row {
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
