/// What is to be known about a word's times before they are believed.
public struct WordFlags: OptionSet, Hashable, Sendable {
  /// One bit a flag.
  public let rawValue: UInt8

  /// Flags by their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word was not heard: its times lie evenly between those of its neighbours.
  public static let interpolated = WordFlags(rawValue: 1 << 0)
  /// The sound hardly resembles the word.
  public static let uncertain = WordFlags(rawValue: 1 << 1)
  /// The times come from a comparison with synthesised speech and may be off by tenths of a second.
  public static let coarse = WordFlags(rawValue: 1 << 2)
  /// The word is longer than anybody speaks it.
  public static let overlong = WordFlags(rawValue: 1 << 3)
}
