/// The Markdown blocks with words: paragraphs, headings, list items.
struct MarkdownBlocks {
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
