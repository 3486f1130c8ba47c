/// A positional argument: its name, how often it occurs, and its help.
///
/// Made by ``Positional``, whose type is that of the argument's value.
package struct PositionalDeclaration: Sendable {
  package enum Presence: Hashable, Sendable {
    case required
    case optional
    /// At least `minimum` times.
    case repeated(minimum: Int)
  }

  /// The name in help and messages: `PIPELINE`.
  package let name: String
  package let presence: Presence
  /// What it is, in a sentence.
  package let help: String
  /// What a shell offers in its place.
  package let completion: CompletionHint
  let rule: ValueRule

  var minimum: Int {
    switch presence {
    case .required: 1
    case .optional: 0
    case .repeated(let minimum): minimum
    }
  }

  /// Nil for any number of times.
  var maximum: Int? {
    if case .repeated = presence { nil } else { 1 }
  }

  /// Its form in a usage line: `PIPELINE`, `[RUN]`, `INPUT...`, or the choices if they are few:
  /// `[list|show]`.
  var synopsis: String {
    let isChoice = (1...8).contains(rule.choices.count)
    let shown = isChoice ? rule.choices.joined(separator: "|") : name
    let once = maximum == nil ? shown + "..." : shown
    return minimum == 0 ? "[\(once)]" : once
  }
}
