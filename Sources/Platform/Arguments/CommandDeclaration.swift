/// One command of a program: what it takes, and what help says about it.
package struct CommandDeclaration: Sendable {
  /// One word, or the name of its family and a word: `run`, `store check`.
  package let name: String
  /// The topic under which help lists the command: `Run pipelines`.
  package let group: String
  package let summary: String
  /// More for those who ask: paragraphs separated by an empty line.
  package let discussion: String
  /// The positional arguments, in order.
  package let positionals: [PositionalDeclaration]
  /// The options besides the global ones.
  package let options: [OptionDeclaration]
  /// Command lines that a newcomer can copy.
  package let examples: [Example]

  /// Declares a command.
  ///
  /// - Precondition: The names of positionals are unique, none that is required comes behind one
  ///   that is not, and only the last may be repeated.
  package init(
    name: String, group: String, summary: String, discussion: String = "",
    positionals: [any DeclaredArgument<PositionalDeclaration>] = [],
    options: [any DeclaredArgument<OptionDeclaration>] = [],
    examples: [Example] = []
  ) {
    self.name = name
    self.group = group
    self.summary = summary
    self.discussion = discussion
    self.positionals = positionals.map { $0.declaration }
    self.options = options.map { $0.declaration }
    self.examples = examples
    let places = self.positionals
    precondition(
      Set(places.map(\.name)).count == places.count, "two positionals of \(name) share a name")
    precondition(
      !zip(places, places.dropFirst()).contains { before, after in
        before.maximum == nil || (before.minimum == 0 && after.minimum > 0)
      }, "an argument of \(name) could never be told from the one before it")
  }
}

extension CommandDeclaration {
  /// The first word of the name: that of its family, or the whole name.
  var firstWord: String { String(name.prefix { $0 != " " }) }

  /// The last word of the name.
  package var lastWord: String { name.split(separator: " ").last.map(String.init) ?? name }
}

/// Commands whose names begin with the same word: `store check`, `store repair`.
package struct CommandFamily: Sendable {
  /// The first word.
  package let name: String
  package let summary: String
  /// The second word of the command that the first word means alone: `list` if `runs` is `runs list`;
  /// nil if the second word is required.
  package let usual: String?

  package init(_ name: String, _ summary: String, usual: String? = nil) {
    self.name = name
    self.summary = summary
    self.usual = usual
  }
}

/// A short text on a topic that no single command explains.
package struct HelpGuide: Sendable {
  package let name: String
  package let summary: String
  /// Paragraphs separated by an empty line. A line that begins with a space stands as it is.
  package let text: String

  package init(_ name: String, _ summary: String, text: String) {
    self.name = name
    self.summary = summary
    self.text = text
  }
}

/// What options of other programs are called here, for the question whether they were meant. A known
/// option is never asked about.
package struct ForeignOption: Sendable {
  package enum Meaning: Hashable, Sendable {
    /// The long name of an option, for the commands that have it.
    case option(String)
    /// The arguments that stand without an option.
    case argument
    /// A command line, for these commands.
    case line(String, for: Set<String>)
  }

  /// Without dashes.
  package let words: Set<String>
  package let meaning: Meaning

  package init(_ words: Set<String>, _ meaning: Meaning) {
    self.words = words
    self.meaning = meaning
  }
}

/// What help explains.
package enum HelpSubject: Sendable {
  case program
  case family(CommandFamily)
  case command(CommandDeclaration)
  case guide(HelpGuide)
}

package struct Example: Hashable, Sendable {
  /// What it achieves: `Clean one voice note`.
  package let purpose: String
  /// The command line, the program's name included.
  package let line: String

  package init(_ purpose: String, _ line: String) {
    self.purpose = purpose
    self.line = line
  }
}
