/// Strangers' text for messages: short, and nothing in it steers a terminal.
enum PrintableText {
  /// The beginning of what stands somewhere. O(1).
  static func shown(_ bytes: ArraySlice<UInt8>, limit: Int = 40) -> String {
    // Cut where a letter ends; a letter has at most four bytes.
    let text = String(decoding: bytes.prefix(limit + 4), as: UTF8.self)
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(limit) {
      result.append(isHarmless(scalar) ? scalar : "\u{fffd}")
    }
    return String(result) + (bytes.count > limit ? "…" : "")
  }

  /// The beginning of a text. O(n).
  static func shown(_ text: String, limit: Int = 40) -> String {
    shown(Array(text.utf8)[...], limit: limit)
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: false
    default: true
    }
  }
}
