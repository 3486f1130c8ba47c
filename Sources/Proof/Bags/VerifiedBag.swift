/// What came of checking one bag.
public struct VerifiedBag: Hashable, Sendable {
  /// Something that is not as a bag has it, or not as its manifests say.
  public struct Problem: Hashable, Sendable, Codable {
    /// The culprit: a file's path from the bag, or a line of a manifest.
    public let name: String
    /// What is wrong with it.
    public let reason: String
  }

  /// Where the bag's folder lies.
  public let path: String
  /// How many files its payload has.
  public var fileCount = 0
  /// How many bytes they have.
  public var byteCount = 0
  /// Everything that is wrong; empty where it is complete and valid.
  public var problems: [Problem] = []

  /// What was not checked, or is worth knowing, and makes nothing wrong.
  public var notes: [Problem] = []

  /// Whether it is complete and valid, as RFC 8493, section 3, has it.
  public var isSound: Bool { problems.isEmpty }

  init(path: String) { self.path = path }

  mutating func note(_ name: String, _ reason: String) {
    notes.append(Problem(name: name, reason: reason))
  }

  mutating func add(_ name: String, _ reason: String) {
    problems.append(Problem(name: name, reason: reason))
  }
}
