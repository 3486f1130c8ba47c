/// How one written word is spoken: as one word, as several, or in one of several ways.
///
/// `2025` is `twenty twenty five` or `two thousand twenty five`; a dash is not spoken at all.
public struct SpokenWord: Hashable, Sendable {
  /// The ways, the likeliest first; each is a list of keys of the lexicon. Empty where it is not
  /// spoken.
  public let ways: [[String]]

  /// A word that may be spoken in these ways.
  public init(ways: [[String]]) { self.ways = ways.filter { !$0.isEmpty } }

  /// A word that is spoken in one way, as one word.
  public init(_ key: String) { ways = [[key]] }

  /// Whether anything is heard of it.
  public var isSpoken: Bool { !ways.isEmpty }
}
