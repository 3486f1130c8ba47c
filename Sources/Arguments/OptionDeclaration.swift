/// How an option is spelled, what it takes, and what help says about it.
///
/// Made by ``Option``, whose type says what the option's value is.
public struct OptionDeclaration: Sendable {
  /// What an option takes.
  public enum Arity: Hashable, Sendable {
    /// Nothing: the option is there or not.
    case flag
    /// One value, called `placeholder` in help.
    case value(placeholder: String)
    /// One value each time it is given, called `placeholder` in help.
    case values(placeholder: String)
  }

  /// The long name without its dashes: `out` for `--out`.
  public let name: String
  /// The letter of the short form: `o` for `-o`.
  public let short: Character?
  /// What it takes.
  public let arity: Arity
  /// What it is for, in a sentence.
  public let help: String
  /// What holds without it, as help tells it; nil if there is nothing to tell.
  public let defaultText: String?
  /// What a shell offers as its value.
  public let completion: CompletionHint
  /// What its value has to be.
  let rule: ValueRule

  /// Whether a value has to follow.
  var takesValue: Bool { arity != .flag }

  /// What help calls its value; nil for a flag.
  var placeholder: String? {
    switch arity {
    case .flag: nil
    case .value(let placeholder), .values(let placeholder): placeholder
    }
  }

  /// Whether it may be given more than once.
  var isRepeatable: Bool {
    if case .values = arity { true } else { false }
  }

  /// `--out`, as messages name it.
  var spelling: String { "--" + name }

  /// Every way to write it: `-o` and `--out`.
  var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + [spelling] }

  /// The option that every command has.
  static let help = Option<Bool>.flag("help", short: "h", help: "Show this help.").declaration

  /// The option that stands in a command's place.
  static let version = Option<Bool>.flag("version", help: "Show the version.").declaration
}
