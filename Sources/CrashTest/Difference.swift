/// Something in an output folder that the undisturbed run did not leave there.
public struct Difference: Hashable, Sendable, Encodable {
  /// What is wrong with a file.
  public enum Kind: Hashable, Sendable {
    /// It differs from the reference, first at this byte.
    case bytes(offset: Int)
    /// It is not there.
    case missing
    /// The reference has no file of that name.
    case unexpected
    /// It was left behind by a start that did not clean up.
    case leftover
    /// The run that should have made it ended with this exit code.
    case failedRun(exitCode: Int32)
    /// The run that should have made it did not end within this many seconds.
    case endlessRun(seconds: Double)
  }

  /// What is wrong.
  public let kind: Kind
  /// The file, whether it is there or not; for a run that failed, what it said.
  public let path: String
  /// The undisturbed run's file; nil where it has none.
  public let referencePath: String?
  /// What had been done to the run just before: `kill 7 in series 2`.
  public let after: String

  /// What is wrong, in words.
  public var words: String {
    switch kind {
    case .bytes(let offset): "differs from the reference at byte \(offset)"
    case .missing: "is not there"
    case .unexpected: "is no file of the undisturbed run"
    case .leftover: "was left behind"
    case .failedRun(let code): "the run that goes on ended with exit code \(code)"
    case .endlessRun(let seconds): "the run that goes on did not end in \(Int(seconds)) s"
    }
  }

  private enum Key: CodingKey { case problem, path, referencePath, after }

  /// Writes it as `--json` shows it.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(words, forKey: .problem)
    try container.encode(path, forKey: .path)
    try container.encodeIfPresent(referencePath, forKey: .referencePath)
    try container.encode(after, forKey: .after)
  }
}
