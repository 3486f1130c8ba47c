/// How a transcript is read.
public struct ReadingOptions: Hashable, Sendable {
  /// How much is read.
  public var limits: ReadingLimits
  /// Whether `Name:` at the beginning of a paragraph of plain text says who speaks; otherwise it is
  /// text as the rest.
  public var findsSpeakers: Bool

  /// Choices of reading.
  public init(limits: ReadingLimits = ReadingLimits(), findsSpeakers: Bool = true) {
    self.limits = limits
    self.findsSpeakers = findsSpeakers
  }
}
