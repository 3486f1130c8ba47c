import Platform

/// Markdown: a paragraph for each segment, with the speaker in bold before it, `**Name:** text`.
///
/// Reading takes the words of headings, lists, quotations and links, without markup, front matter,
/// code blocks, rules and comments.
extension TranscriptFormat {
  static let markdown = TranscriptFormat(
    name: "markdown", summary: "Markdown, a paragraph for each segment",
    nameEndings: [".md", ".markdown"], likeness: likeness, parse: parse, text: text)

  private static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    guard let first = lines.nextWithText() else { return .none }
    return first.bytes.starts(with: "# ".utf8) || first.bytes.starts(with: "**".utf8)
      ? .possible : .none
  }

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
    var transcript = Transcript()
    for paragraph in MarkdownBlocks.paragraphs(of: source) {
      var (speaker, rest) = Self.speaker(of: paragraph)
      // A bold line with a colon and no text after it is text.
      if rest.isEmpty { (speaker, rest) = (nil, paragraph) }
      let text = WrittenWords.tidied(Self.plain(rest))
      guard !text.isEmpty else { continue }
      transcript.segments.append(Segment(text: text, speaker: speaker))
    }
    return transcript
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    let paragraphs = transcript.inTurns.segments.compactMap { segment -> String? in
      let text = WrittenWords.lines(of: segment.text).map(Self.escaped)
        .joined(separator: "\n")
      guard let speaker = segment.speaker.map(WrittenWords.onOneLine), !speaker.isEmpty else {
        return text.isEmpty ? nil : text
      }
      return "**\(Self.escaped(speaker)):**" + (text.isEmpty ? "" : " " + text)
    }
    return paragraphs.isEmpty ? "" : paragraphs.joined(separator: "\n\n") + "\n"
  }
}

/// Inline markup.
extension TranscriptFormat {
  /// The longest accepted name, in characters.
  private static let longestName = 80

  /// The speaker, as bold text at the start that ends with or is followed by a colon, and the rest.
  /// O(n).
  private static func speaker(of paragraph: String) -> (speaker: String?, rest: String) {
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
  private static func plain(_ text: String) -> String {
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
    plain(text.replacing(scalar: "[", with: "\\["))
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
  private static func escaped(_ text: String) -> String {
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

/// The Markdown blocks with words: paragraphs, headings, list items.
private struct MarkdownBlocks {
  private var paragraphs: [String] = []
  private var lines: [String] = []
  private var fence: Substring?
  private var isInComment = false

  /// The text of each block with its inline markup. O(n).
  static func paragraphs(of source: SourceText) -> [String] {
    var blocks = MarkdownBlocks()
    var lines = source.lines
    var line = lines.next()
    if line.map({ WrittenWords.trimmed($0.text) }) == "---" {
      // Front matter, if it is closed; otherwise a rule.
      var behind = lines
      while let next = behind.next() {
        let text = WrittenWords.trimmed(next.text)
        guard text == "---" || text == "..." else { continue }
        lines = behind
        break
      }
      line = lines.next()
    }
    while let next = line {
      blocks.read(next.text)
      line = lines.next()
    }
    blocks.finish()
    return blocks.paragraphs
  }

  private mutating func finish() {
    if !lines.isEmpty { paragraphs.append(lines.joined(separator: "\n")) }
    lines = []
  }

  private mutating func read(_ line: String) {
    var text = WrittenWords.trimmed(line)[...]
    if let open = fence {
      if text.hasPrefix(open), text.allSatisfy({ $0 == open.first }) { fence = nil }
      return
    }
    if isInComment {
      isInComment = !text.contains("-->")
      return
    }
    if text.hasPrefix("<!--") {
      isInComment = !text.contains("-->")
      return finish()
    }
    if text.hasPrefix("```") || text.hasPrefix("~~~") {
      fence = text.prefix { $0 == text.first }
      return finish()
    }
    while text.hasPrefix(">") { text = text.dropFirst().drop(while: \.isWhitespace) }
    if text.isEmpty { return finish() }
    if isRule(text) {
      // A setext heading's underline, or the end of a block.
      return finish()
    }
    if let heading = heading(text) {
      finish()
      lines.append(heading)
      return finish()
    }
    if let item = item(text) {
      finish()
      text = item[...]
    }
    // A hard line break.
    if text.hasSuffix("\\"), !text.hasSuffix("\\\\") { text = text.dropLast() }
    if !text.isEmpty { lines.append(String(text)) }
  }

  private func isRule(_ text: Substring) -> Bool {
    let marks = text.filter { !$0.isWhitespace }
    guard let first = marks.first, "-*_=".contains(first), marks.allSatisfy({ $0 == first }) else {
      return false
    }
    return marks.count >= 3 || (first == "=" || first == "-") && !lines.isEmpty
  }

  private func heading(_ text: Substring) -> String? {
    let level = text.prefix { $0 == "#" }.count
    guard 1...6 ~= level else { return nil }
    let rest = text.dropFirst(level)
    guard rest.isEmpty || rest.first?.isWhitespace == true else { return nil }
    // The closing sequence of a heading.
    var words = WrittenWords.trimmed(String(rest))
    let tail = words.reversed().prefix { $0 == "#" }.count
    if tail > 0, tail == words.count || words.dropLast(tail).last?.isWhitespace == true {
      words = WrittenWords.trimmed(String(words.dropLast(tail)))
    }
    return words
  }

  /// The text of a list item.
  private func item(_ text: Substring) -> String? {
    if let first = text.first, "-*+".contains(first), text.dropFirst().first?.isWhitespace == true {
      return WrittenWords.trimmed(String(text.dropFirst()))
    }
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let behind = text.dropFirst(digits.count)
    guard 1...9 ~= digits.count, let mark = behind.first, mark == "." || mark == ")",
      behind.dropFirst().first?.isWhitespace == true
    else { return nil }
    return WrittenWords.trimmed(String(behind.dropFirst()))
  }
}
