/// How far a recognition is: what was heard so far. Work that was cut off goes on with it, and
/// comes to the same end.
public struct RecognitionProgress: Hashable, Sendable, Codable {
  /// What was heard in each piece of the listening plan; nil where nobody listened yet.
  var heard: [[RecognisedWord]?] = []

  /// How much of the work is done: 0 to 1.
  public var share: Double {
    heard.isEmpty ? 0 : Double(heard.count { $0 != nil }) / Double(heard.count)
  }

  /// Nothing is done yet.
  public init() {}
}
