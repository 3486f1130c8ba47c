/// A word as the JSON of `transcript` has it.
struct FoundWord: Decodable {
  let text: String
  /// When it begins, in seconds.
  let start: Double?
  let flags: [String]

  /// Whether it says of itself that it may be in the wrong place.
  var isFlagged: Bool { flags.contains("interpolated") || flags.contains("uncertain") }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    text = try container.decode(String.self, forKey: .text)
    start = try container.decodeIfPresent(Double.self, forKey: .startTime)
    flags = try container.decodeIfPresent([String].self, forKey: .flags) ?? []
  }

  private enum Key: CodingKey { case text, startTime, flags }
}
