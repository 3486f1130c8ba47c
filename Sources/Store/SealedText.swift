internal import Hashing

/// A text as it lies in the database, where nothing else would tell a flipped bit: its SHA-256 in
/// hexadecimal digits, a space, and the text itself.
enum SealedText {
  /// What is stored of a text.
  static func seal(_ text: String) -> String { SHA256.digest(of: text).hex + " " + text }

  /// The text that was stored; nil where it is not what it was.
  static func open(_ stored: String) -> String? {
    let text = stored.dropFirst(digitCount + 1)
    guard stored.dropFirst(digitCount).first == " ",
      SHA256.digest(of: String(text)).hex == stored.prefix(digitCount)
    else { return nil }
    return String(text)
  }

  private static let digitCount = 64
}
