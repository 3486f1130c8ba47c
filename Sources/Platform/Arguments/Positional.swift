/// An argument known by its place, and the key that finds its value in ``ParsedArguments``.
///
/// ```swift
/// let pipeline: Positional<String> = .required("PIPELINE", help: "The pipeline to run.")
/// let run: Positional<String?> = .optional("RUN", help: "A run; left out, the latest.")
/// let inputs: Positional<[String]> = .repeated("INPUT", help: "Recordings.")
/// ```
package struct Positional<Value>: DeclaredArgument {
  package let declaration: PositionalDeclaration
  /// Converts the texts, which the declaration's rule has accepted.
  let read: @Sendable ([String]) -> Value?
}

extension Positional {
  /// An argument that has to be there.
  ///
  /// - Parameters:
  ///   - name: What help calls it: `PIPELINE`.
  ///   - completion: What a shell offers; left out, the type's own choices.
  package static func required(
    _ name: String, help: String, completion: CompletionHint? = nil
  ) -> Self where Value: ArgumentValue {
    Self(declaration: .make(name, .required, Value.self, help, completion)) {
      $0.first.flatMap(Value.init(argument:))
    }
  }

  /// An argument that may be left out: nil without it.
  ///
  /// - Parameters:
  ///   - name: What help calls it: `RUN`.
  ///   - completion: What a shell offers; left out, the type's own choices.
  package static func optional<Element: ArgumentValue>(
    _ name: String, help: String, completion: CompletionHint? = nil
  ) -> Self where Value == Element? {
    Self(declaration: .make(name, .optional, Element.self, help, completion)) {
      .some($0.first.flatMap(Element.init(argument:)))
    }
  }

  /// An argument that takes every place left, `minimum` at the least.
  ///
  /// - Parameters:
  ///   - name: What help calls it: `INPUT`.
  ///   - completion: What a shell offers; left out, the type's own choices.
  package static func repeated<Element: ArgumentValue>(
    _ name: String, minimum: Int = 1, help: String, completion: CompletionHint? = nil
  ) -> Self where Value == [Element] {
    Self(declaration: .make(name, .repeated(minimum: minimum), Element.self, help, completion)) {
      $0.compactMap(Element.init(argument:))
    }
  }
}

extension PositionalDeclaration {
  fileprivate static func make<Value: ArgumentValue>(
    _ name: String, _ presence: Presence, _ type: Value.Type, _ help: String,
    _ completion: CompletionHint?
  ) -> PositionalDeclaration {
    let rule = ValueRule(type)
    return PositionalDeclaration(
      name: name, presence: presence, help: help, completion: completion ?? rule.completion,
      rule: rule)
  }
}
