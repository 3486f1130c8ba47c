/// Text that somebody else wrote, as one harmless name in a folder.
enum SafeName {
  /// The longest name in bytes: a number, an extension and a temporary suffix still fit into 255.
  private static let maximumByteCount = 180

  /// A name without separators or control characters that leads nowhere and is not hidden.
  /// - Parameter fallback: what is taken where nothing is left.
  static func clean(_ text: String, fallback: String = "_") -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      let isHarmless =
        !["/", "\\", "\u{2028}", "\u{2029}"].contains(scalar)
        && scalar.properties.generalCategory != .control
      result.unicodeScalars.append(isHarmless ? scalar : "_")
    }
    while let last = result.unicodeScalars.last, last.properties.isWhitespace {
      result.unicodeScalars.removeLast()
    }
    while let first = result.unicodeScalars.first, first.properties.isWhitespace {
      result.unicodeScalars.removeFirst()
    }
    if let first = result.unicodeScalars.first, first == "." || first == "-" {
      result = "_" + String(result.unicodeScalars.dropFirst())
    }
    while result.utf8.count > maximumByteCount { result.removeLast() }
    return result.isEmpty ? fallback : result
  }
}
