/// Keeps text that looks like a code of a format from being read as one: a word joiner, U+2060, which
/// players do not show, stands behind its first sign. Reading takes it away again.
enum WordJoiner {
  private static let joiner: Unicode.Scalar = "\u{2060}"

  /// The text with a joiner behind every `sign` that would begin a code.
  ///
  /// Text that has joiners there already gets one more, so that nothing is lost. O(n), if `isCode` is
  /// O(1).
  /// - Parameter isCode: whether a code begins, by what stands behind the sign.
  static func guarded(
    _ text: String, at sign: Unicode.Scalar, if isCode: (Substring.UnicodeScalarView) -> Bool
  ) -> String {
    rewritten(text, at: sign, if: isCode) { $0 + 1 }
  }

  /// The text that `guarded` was given. O(n), if `isCode` is O(1).
  static func unguarded(
    _ text: String, at sign: Unicode.Scalar, if isCode: (Substring.UnicodeScalarView) -> Bool
  ) -> String {
    guard text.unicodeScalars.contains(joiner) else { return text }
    return rewritten(text, at: sign, if: isCode) { max(0, $0 - 1) }
  }

  /// The text without any joiner. O(n).
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
