/// What came of checking one quote.
public struct VerifiedQuote: Hashable, Sendable {
  /// Something that does not show what it claims.
  public struct Problem: Hashable, Sendable, Codable {
    /// The culprit: a file of the bundle, a key, or a block of the clip.
    public let name: String
    /// What is wrong with it.
    public let reason: String
  }

  /// The bundle's folder.
  public let path: String
  /// The name of the key that signed the receipt, as that tells it; nil where it cannot be read.
  public var keyID: String?
  /// The quote; nil where it cannot be read.
  public var quote: Quote?
  /// Whether the bundle has words, which nothing proves.
  public var hasWords = false
  /// The time stamps of the receipt that are what they say.
  public var timeStamps: [VerifiedTimeStamp] = []
  /// Whether only the key is not trusted: whoever trusts it need not ask again.
  public var hasStrangeKey = false
  /// Everything that is wrong; empty where the clip is part of the export.
  public var problems: [Problem] = []

  /// What is worth knowing, and makes nothing wrong.
  public var notes: [Problem] = []

  /// Whether the clip is part of the export whose root is signed, by a key that is trusted.
  public var isSound: Bool { problems.isEmpty }

  init(path: String) { self.path = path }

  mutating func note(_ name: String, _ reason: String) {
    notes.append(Problem(name: name, reason: reason))
  }

  mutating func add(_ name: String, _ reason: String) {
    problems.append(Problem(name: name, reason: reason))
  }
}
