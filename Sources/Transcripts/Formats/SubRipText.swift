/// The text of SubRip subtitles: tags of fonts, codes of places, and text that looks like them.
enum SubRipText {
  private static let tags: Set<String> = ["i", "b", "u", "font"]

  /// A line as it is read: without tags and without codes in braces. O(n).
  static func read(_ line: String) -> String {
    var text = withoutTags(BraceCodes.removed(from: line))
    text = WordJoiner.unguarded(text, at: "<", if: beginsTag)
    text = WordJoiner.unguarded(text, at: "{") { $0.first == "\\" }
    return areTimes(text) ? WordJoiner.unguarded(text, at: "-") { $0.first == ">" } : text
  }

  /// Text as it is written, line by line: nothing in it is taken for a tag, a code or a line of times.
  /// O(n).
  static func written(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      var line = WordJoiner.guarded(String(line), at: "<", if: beginsTag)
      line = WordJoiner.guarded(line, at: "{") { $0.first == "\\" }
      return areTimes(line) ? WordJoiner.guarded(line, at: "-") { $0.first == ">" } : line
    }.joined(separator: "\n")
  }

  /// Whether a line would be one of times without joiners.
  private static func areTimes(_ line: String) -> Bool {
    guard line.contains(">") else { return false }
    let bare = WordJoiner.removed(from: line)
    return CueTimes.areIn(SourceLine(number: 0, bytes: Array(bare.utf8)[...]))
  }

  private static func withoutTags(_ line: String) -> String {
    var kept: [UInt8] = []
    var scanner = ByteScanner(Array(line.utf8)[...])
    while let byte = scanner.next {
      let start = scanner.position
      scanner.position += 1
      let isTag =
        byte == UInt8(ascii: "<") && scanner.take(upTo: UInt8(ascii: ">")).map(isTag) ?? false
      guard !isTag else { continue }
      kept.append(byte)
      scanner.position = start + 1
    }
    return String(decoding: kept, as: UTF8.self)
  }

  private static func isTag(_ tag: ArraySlice<UInt8>) -> Bool {
    let name = tag.drop { $0 == UInt8(ascii: "/") }.prefix { ($0 | 0x20) >= 0x61 && $0 < 0x7b }
    let behind = tag[name.endIndex...].first
    return (behind == nil || behind == 0x20)
      && tags.contains(String(decoding: name, as: UTF8.self).lowercased())
  }

  /// Whether what stands behind a `<` may be a tag.
  private static func beginsTag(_ rest: Substring.UnicodeScalarView) -> Bool {
    let name = rest.prefix(8).drop { $0 == "/" }.prefix { $0.isASCII && $0.properties.isAlphabetic }
    let behind = rest[name.endIndex...].first
    return (behind == ">" || behind == " ") && tags.contains(String(name).lowercased())
  }
}
