/// Strangers' text for messages: short, and nothing in it steers a terminal.
enum PrintableText {
  /// The beginning of what stands somewhere, in whole characters. O(1).
  static func shown(_ bytes: ArraySlice<UInt8>, limit: Int = 40) -> String {
    // Cut between characters, of which one may have many scalars: all of the last is there, or nothing.
    let text = String(decoding: bytes.prefix(Self.longest(limit)), as: UTF8.self)
    let isWhole = bytes.count <= Self.longest(limit)
    var result = String.UnicodeScalarView()
    var end = text.startIndex
    for index in text.indices.prefix(limit) {
      let next = text.index(after: index)
      // The last of what was taken may be half a character.
      guard next < text.endIndex || isWhole else { break }
      end = next
    }
    for scalar in text[..<end].unicodeScalars {
      result.append(isHarmless(scalar) ? scalar : "\u{fffd}")
    }
    return String(result) + (isWhole && end == text.endIndex ? "" : "…")
  }

  /// So many bytes are looked at: characters have up to some dozens.
  private static func longest(_ limit: Int) -> Int { 32 * limit }

  /// The beginning of a text. O(n).
  static func shown(_ text: String, limit: Int = 40) -> String {
    shown(Array(text.utf8)[...], limit: limit)
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    // What joins letters and pictures to one character steers nothing.
    if scalar == "\u{200c}" || scalar == "\u{200d}" { return true }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: false
    default: true
    }
  }
}
