/// One command of a program: what it takes, and what help says about it.
public struct CommandDeclaration: Sendable {
  /// The word that selects the command.
  public let name: String
  /// The topic under which help lists the command: `Run pipelines`.
  public let group: String
  /// What the command does, in one sentence.
  public let summary: String
  /// More for those who ask: paragraphs separated by an empty line.
  public let discussion: String
  /// The arguments that are known by their place, in order.
  public let positionals: [PositionalDeclaration]
  /// The options that this command adds to the global ones.
  public let options: [OptionDeclaration]
  /// Command lines that a newcomer can copy.
  public let examples: [Example]

  /// Declares a command.
  ///
  /// - Precondition: The names of positionals are unique, none that is required comes behind one
  ///   that is not, and only the last may be repeated.
  public init(
    name: String, group: String, summary: String, discussion: String = "",
    positionals: [any DeclaredPositional] = [], options: [any DeclaredOption] = [],
    examples: [Example] = []
  ) {
    self.name = name
    self.group = group
    self.summary = summary
    self.discussion = discussion
    self.positionals = positionals.map(\.declaration)
    self.options = options.map(\.declaration)
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

/// A command line that shows a command at work.
public struct Example: Hashable, Sendable {
  /// What it achieves: `Clean one voice note`.
  public let purpose: String
  /// What to type, the program's name included.
  public let line: String

  /// Describes an example.
  public init(_ purpose: String, _ line: String) {
    self.purpose = purpose
    self.line = line
  }
}
