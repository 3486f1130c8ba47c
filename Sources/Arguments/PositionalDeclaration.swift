/// An argument that is known by its place: its name, how often it stands there, and what help says
/// about it.
///
/// Made by ``Positional``, whose type says what the argument's value is.
public struct PositionalDeclaration: Sendable {
  /// How often an argument may stand in its place.
  public enum Presence: Hashable, Sendable {
    /// Exactly once.
    case required
    /// At most once.
    case optional
    /// Any number of times, but `minimum` at the least.
    case repeated(minimum: Int)
  }

  /// What help and messages call it: `PIPELINE`.
  public let name: String
  /// How often it may be given.
  public let presence: Presence
  /// What it is, in a sentence.
  public let help: String
  /// What a shell offers in its place.
  public let completion: CompletionHint
  /// What it has to be.
  let rule: ValueRule

  /// How often it has to be given.
  var minimum: Int {
    switch presence {
    case .required: 1
    case .optional: 0
    case .repeated(let minimum): minimum
    }
  }

  /// How often it can be given; nil for any number of times.
  var maximum: Int? {
    if case .repeated = presence { nil } else { 1 }
  }

  /// How a usage line shows it: `PIPELINE`, `[RUN]`, `INPUT...`, or where there are few words to choose
  /// from, those: `[list|show]`.
  var synopsis: String {
    let isChoice = (1...8).contains(rule.choices.count)
    let shown = isChoice ? rule.choices.joined(separator: "|") : name
    let once = maximum == nil ? shown + "..." : shown
    return minimum == 0 ? "[\(once)]" : once
  }
}
