/// A stranger's text made fit to be shown: one line, single spaces, no control characters, and
/// nothing that turns the direction of writing.
package struct PlainText: Hashable {
  /// The cleaned text, which holds something.
  package let text: String

  /// Cleans a text and cuts it after `limit` characters; nil where nothing is left. O(n).
  package init?(_ text: String, limit: Int) {
    var cleaned = ""
    var isAfterSpace = true
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace {
        if !isAfterSpace { cleaned += " " }
        isAfterSpace = true
      } else if !scalar.isInvisible || scalar.isJoiner {
        cleaned.unicodeScalars.append(scalar)
        isAfterSpace = false
      }
    }
    if cleaned.hasSuffix(" ") { cleaned.removeLast() }
    cleaned = String(cleaned.prefix(limit))
    guard !cleaned.isEmpty else { return nil }
    self.text = cleaned
  }
}
