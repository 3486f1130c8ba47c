/// An option of a command, and the key that finds its value in ``ParsedArguments``.
///
/// ```swift
/// let out: Option<String?> = .value("out", "DIR", short: "o", help: "Where the exports go.")
/// let json: Option<Bool> = .flag("json", help: "Print one JSON object per event.")
/// let set: Option<[String]> = .values("set", "NAME=VALUE", help: "Replace a variable.")
/// let jobs: Option<Int> = .value("jobs", "N", default: 2, help: "Recordings at a time.")
/// ```
package struct Option<Value>: DeclaredArgument {
  package let declaration: OptionDeclaration
  /// Converts the texts, which the declaration's rule has accepted.
  let read: @Sendable ([String]) -> Value
}

/// An argument or option without the type of its value.
package protocol DeclaredArgument<Declaration>: Sendable {
  associatedtype Declaration
  var declaration: Declaration { get }
}

extension Option where Value == Bool {
  /// An option without a value: true where it is given.
  ///
  /// - Parameter name: The long name, without dashes.
  package static func flag(_ name: String, short: Character? = nil, help: String) -> Self {
    Self(
      declaration: OptionDeclaration(
        name: name, short: short, arity: .flag, help: help, defaultText: nil, completion: .none,
        rule: ValueRule(String.self))
    ) { !$0.isEmpty }
  }
}

extension Option {
  /// An option with a value: nil where it is not given.
  ///
  /// - Parameters:
  ///   - name: The long name, without dashes.
  ///   - placeholder: What help calls the value: `DIR`.
  ///   - defaultText: What holds without it, as help tells it.
  ///   - completion: What a shell offers; left out, the type's own choices.
  package static func value<Element: ArgumentValue>(
    _ name: String, _ placeholder: String, short: Character? = nil, help: String,
    defaultText: String? = nil, completion: CompletionHint? = nil
  ) -> Self where Value == Element? {
    let rule = ValueRule(Element.self)
    return Self(
      declaration: OptionDeclaration(
        name: name, short: short, arity: .value(placeholder: placeholder), help: help,
        defaultText: defaultText, completion: completion ?? rule.completion, rule: rule)
    ) { $0.last.flatMap(Element.init(argument:)) }
  }

  /// An option with a value that is `fallback` where it is not given; help says so.
  ///
  /// - Parameters:
  ///   - name: The long name, without dashes.
  ///   - placeholder: What help calls the value: `N`.
  ///   - completion: What a shell offers; left out, the type's own choices.
  package static func value(
    _ name: String, _ placeholder: String, short: Character? = nil, default fallback: Value,
    help: String, completion: CompletionHint? = nil
  ) -> Self where Value: ArgumentValue {
    let rule = ValueRule(Value.self)
    return Self(
      declaration: OptionDeclaration(
        name: name, short: short, arity: .value(placeholder: placeholder), help: help,
        defaultText: fallback.argument, completion: completion ?? rule.completion, rule: rule)
    ) { $0.last.flatMap(Value.init(argument:)) ?? fallback }
  }

  /// An option that may be given several times: its values in the order given.
  ///
  /// - Parameters:
  ///   - name: The long name, without dashes.
  ///   - placeholder: What help calls a value: `NAME=VALUE`.
  ///   - completion: What a shell offers; left out, the type's own choices.
  package static func values<Element: ArgumentValue>(
    _ name: String, _ placeholder: String, short: Character? = nil, help: String,
    completion: CompletionHint? = nil
  ) -> Self where Value == [Element] {
    let rule = ValueRule(Element.self)
    return Self(
      declaration: OptionDeclaration(
        name: name, short: short, arity: .values(placeholder: placeholder), help: help,
        defaultText: nil, completion: completion ?? rule.completion, rule: rule)
    ) { $0.compactMap(Element.init(argument:)) }
  }
}
