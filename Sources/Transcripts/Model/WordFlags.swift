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
  /// The word was cut out of the sound, and has no time in what is left.
  public static let removed = WordFlags(rawValue: 1 << 4)
  /// Part of the word was cut out of the sound.
  public static let clipped = WordFlags(rawValue: 1 << 5)
  /// There is less time between its neighbours than anybody needs to speak the word.
  public static let cramped = WordFlags(rawValue: 1 << 6)
}

extension WordFlags {
  private static let named: [(name: String, flag: WordFlags)] = [
    ("interpolated", .interpolated), ("uncertain", .uncertain), ("coarse", .coarse),
    ("overlong", .overlong), ("removed", .removed), ("clipped", .clipped),
    ("cramped", .cramped),
  ]

  /// The names of the flags that are set, as files have them.
  public var names: [String] { Self.named.filter { contains($0.flag) }.map(\.name) }

  /// Flags by their names; names that are unknown are passed over.
  public init(names: [String]) {
    self = Self.named.filter { names.contains($0.name) }.reduce(into: []) { $0.insert($1.flag) }
  }
}
