/// Inline Markdown.
enum MarkdownText {
  /// The longest accepted name, in characters.
  private static let longestName = 80

  /// The speaker, as bold text at the start that ends with or is followed by a colon, and the rest.
  /// O(n).
  static func speaker(of paragraph: String) -> (speaker: String?, rest: String) {
    for mark in ["**", "__"] {
      guard paragraph.hasPrefix(mark) else { continue }
      let body = paragraph.dropFirst(2)
      guard let end = end(of: mark, in: body), end > body.startIndex else { continue }
      var name = body[..<end]
      var rest = body[body.index(end, offsetBy: 2)...]
      if name.hasSuffix(":"), !name.hasSuffix("\\:") {
        name = name.dropLast()
      } else if rest.hasPrefix(":") {
        rest = rest.dropFirst()
      } else {
        continue
      }
      let plain = WrittenWords.trimmed(plain(String(name)))
      guard !plain.isEmpty, !plain.unicodeScalars.contains(where: \.endsLine) else { continue }
      return (plain, WrittenWords.trimmed(String(rest)))
    }
    return (nil, paragraph)
  }

  /// The position of a two-character mark that is not escaped.
  private static func end(of mark: String, in text: Substring) -> Substring.Index? {
    var isEscaped = false
    var index = text.startIndex
    for _ in 0..<longestName * 2 {
      guard index < text.endIndex else { return nil }
      if !isEscaped, text[index...].hasPrefix(mark) { return index }
      isEscaped = !isEscaped && text[index] == "\\"
      index = text.index(after: index)
    }
    return nil
  }

  private static let marks = Array("\\`*_{}[]()#+-.!<>~|:&=\"'".unicodeScalars)

  /// The words of a paragraph: without emphasis, link targets and pictures, and with escapes
  /// resolved. O(n).
  static func plain(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    let scalars = Array(text.unicodeScalars)
    var links = LinkFinder()
    var index = 0
    while index < scalars.count {
      let scalar = scalars[index]
      let next = index + 1 < scalars.count ? scalars[index + 1] : nil
      switch scalar {
      case "\\":
        if let next, marks.contains(next) {
          result.append(next)
          index += 1
        } else {
          result.append(scalar)
        }
      case "*", "`": break
      case "~" where next == "~" || index > 0 && scalars[index - 1] == "~": break
      case "_" where isEdge(of: scalars, at: index): break
      case "!" where next == "[":
        if let end = links.end(in: scalars, from: index + 1) {
          index = end.behind - 1
        } else {
          result.append(scalar)
        }
      case "[":
        if let end = links.end(in: scalars, from: index) {
          var words = String.UnicodeScalarView()
          words.append(contentsOf: scalars[(index + 1)..<end.text])
          result.append(contentsOf: plainWithoutLinks(String(words)).unicodeScalars)
          index = end.behind - 1
        } else {
          result.append(scalar)
        }
      default: result.append(scalar)
      }
      index += 1
    }
    return String(result)
  }

  private static func plainWithoutLinks(_ text: String) -> String {
    plain(text.replacing("[", with: "\\["))
  }

  /// Whether an underscore at the edge of a word marks emphasis.
  private static func isEdge(of scalars: [Unicode.Scalar], at index: Int) -> Bool {
    func isInWord(_ index: Int) -> Bool {
      scalars.indices.contains(index) && scalars[index].properties.isAlphabetic
        || scalars.indices.contains(index) && scalars[index].properties.numericType != nil
    }
    return !(isInWord(index - 1) && isInWord(index + 1))
  }

  /// Text with Markdown's characters escaped. O(n).
  static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    var isAtStart = true
    var isNumber = true
    for scalar in text.unicodeScalars {
      let isDigit = (0x30...0x39).contains(scalar.value)
      switch scalar {
      case "\\", "`", "*", "_", "[", "]", "<", ">", "~": result.append("\\")
      // Special at the start of a line only.
      case "#", "+", "-", "=": if isAtStart { result.append("\\") }
      case ".", ")": if isNumber, !isAtStart { result.append("\\") }
      default: break
      }
      result.append(scalar)
      isNumber = isNumber && isDigit
      isAtStart = false
    }
    return String(result)
  }
}

/// Finds the ends of links, `[text](target)`, for increasing start positions.
private struct LinkFinder {
  private var bracket = SignFinder("]")
  private var parenthesis = SignFinder(")")

  /// The end of a link's text and of the whole link; nil if none begins at `start`.
  mutating func end(
    in text: [Unicode.Scalar], from start: Int
  ) -> (text: Int, behind: Int)? {
    guard let end = bracket.place(in: text, from: start), end + 1 < text.count,
      text[end + 1] == "(", let close = parenthesis.place(in: text, from: end + 1)
    else { return nil }
    return (end, close + 1)
  }
}
