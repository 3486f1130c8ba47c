/// How an option is spelled, what it takes, and what help says about it.
///
/// Made by ``Option``, whose type says what the option's value is.
package struct OptionDeclaration: Sendable {
  package enum Arity: Hashable, Sendable {
    case flag
    /// One value, called `placeholder` in help.
    case value(placeholder: String)
    /// One value each time it is given, called `placeholder` in help.
    case values(placeholder: String)
  }

  package let name: String
  /// The letter of the short form: `o` for `-o`.
  package let short: Character?
  /// What it takes.
  package let arity: Arity
  /// What it is for, in a sentence.
  package let help: String
  /// The default, as help states it; nil for none.
  package let defaultText: String?
  /// What a shell offers as its value.
  package let completion: CompletionHint
  let rule: ValueRule

  var takesValue: Bool { arity != .flag }

  /// The value's name in help; nil for a flag.
  var placeholder: String? {
    switch arity {
    case .flag: nil
    case .value(let placeholder), .values(let placeholder): placeholder
    }
  }

  var isRepeatable: Bool {
    if case .values = arity { true } else { false }
  }

  var spelling: String { "--" + name }

  /// Every spelling: `-o` and `--out`.
  var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + [spelling] }

  /// The option of every command.
  static let help = Option<Bool>.flag("help", short: "h", help: "Show this help.").declaration

  /// The option in place of a command.
  static let version = Option<Bool>.flag("version", help: "Show the version.").declaration
}
