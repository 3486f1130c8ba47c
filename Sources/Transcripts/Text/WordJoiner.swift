/// Protects text that looks like a format's code: an invisible word joiner, U+2060, follows its
/// first character. Reading removes it.
enum WordJoiner {
  private static let joiner: Unicode.Scalar = "\u{2060}"

  /// The text with a joiner after every `sign` that would begin a code.
  ///
  /// Text that already has joiners there gets one more, so that the encoding is reversible. O(n),
  /// if `isCode` is O(1).
  /// - Parameter isCode: whether a code begins, given the text after the sign.
  static func guarded(
    _ text: String, at sign: Unicode.Scalar, if isCode: (Substring.UnicodeScalarView) -> Bool
  ) -> String {
    rewritten(text, at: sign, if: isCode) { $0 + 1 }
  }

  /// The inverse of `guarded`. O(n), if `isCode` is O(1).
  static func unguarded(
    _ text: String, at sign: Unicode.Scalar, if isCode: (Substring.UnicodeScalarView) -> Bool
  ) -> String {
    guard text.unicodeScalars.contains(joiner) else { return text }
    return rewritten(text, at: sign, if: isCode) { max(0, $0 - 1) }
  }

  /// The text without joiners. O(n).
  static func removed(from text: String) -> String {
    guard text.unicodeScalars.contains(joiner) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != joiner }))
  }

  private static func rewritten(
    _ text: String, at sign: Unicode.Scalar, if isCode: (Substring.UnicodeScalarView) -> Bool,
    count: (Int) -> Int
  ) -> String {
    guard text.unicodeScalars.contains(sign) else { return text }
    var result = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      result.append(scalar)
      guard scalar == sign else { continue }
      let there = rest.prefix { $0 == joiner }.count
      let behind = rest.dropFirst(there)
      result.append(
        contentsOf: repeatElement(joiner, count: isCode(behind) ? count(there) : there))
      rest = behind
    }
    return String(result)
  }
}
