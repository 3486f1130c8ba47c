import FoundationEssentials

/// What a host process is to do: its one argument.
public struct HostOrder: Hashable, Sendable, Codable {
  /// The word that stands before it on the command line.
  public static let word = "host-effect"

  /// What is wanted.
  public enum Wish: String, Hashable, Sendable, Codable {
    /// All that is installed.
    case list
    /// One plugin's description.
    case describe
    /// One plugin at work.
    case run
  }

  /// What is wanted.
  public let wish: Wish
  /// Which plugins.
  public let format: EffectFormat
  /// The plugin; empty for a list.
  public let identity: String
  /// Where plugins lie.
  public let folders: [String]
  /// Values in the plugin's units, by symbol.
  public let values: [String: Double]
  /// The URI of a preset.
  public let preset: String?
  /// Libraries that a list leaves out, and bundles that are left out everywhere, by path.
  public let excluded: [String]

  /// Orders something.
  public init(
    _ wish: Wish, _ format: EffectFormat, _ identity: String = "", in folders: [String],
    values: [String: Double] = [:], preset: String? = nil, excluding excluded: [String] = []
  ) {
    self.excluded = excluded
    self.wish = wish
    self.format = format
    self.identity = identity
    self.folders = folders
    self.values = values
    self.preset = preset
  }

  /// As one word of a command line.
  public var text: String {
    (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Reads the word.
  public init?(_ text: String) {
    guard let order = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
      return nil
    }
    self = order
  }
}
