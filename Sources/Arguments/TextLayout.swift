/// Lays plain text out in lines for a terminal of a given width, a character a column.
struct TextLayout {
  /// One line of a table: a term, its explanation, and what stands in brackets behind that.
  struct Row {
    let term: String
    let text: String
    let notes: [String?]

    init(term: String, text: String, notes: [String?] = []) {
      self.term = term
      self.text = text
      self.notes = notes
    }

    var explanation: String {
      let notes = notes.compactMap { $0 }
      return notes.isEmpty ? text : text + " (" + notes.joined(separator: "; ") + ")"
    }
  }

  private let width: Int

  /// Lays out for `width` columns, but for 40 at the least and 100 at the most.
  init(width: Int) { self.width = min(max(width, 40), 100) }

  /// Text wrapped between words, every line but the first indented by `hang` more than `indent`.
  func paragraph(_ text: String, indent: Int = 0, hang: Int = 0) -> [String] {
    wrap(text.split(whereSeparator: \.isWhitespace).map(String.init), indent: indent, hang: hang)
  }

  /// Paragraphs that an empty line separates.
  func paragraphs(_ text: String) -> [String] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let paragraphs = lines.split { line in line.allSatisfy(\.isWhitespace) }
    let wrapped = paragraphs.map { self.paragraph($0.joined(separator: " ")) }
    return Array(wrapped.joined(separator: [""]))
  }

  /// A usage line, broken between its parts.
  func usage(_ parts: [String]) -> [String] {
    wrap(["Usage:"] + parts, indent: 0, hang: 7)
  }

  /// Where explanations begin so that they line up in all `tables`: behind the longest term that
  /// leaves them two thirds of the width.
  func column(for tables: [[Row]]) -> Int {
    (tables.joined().map(\.term.count).filter { $0 <= width / 3 }.max() ?? 0) + 4
  }

  /// Terms on the left, their explanations from `column` on. A term too long for that has a line
  /// of its own.
  func table(_ rows: [Row], column: Int) -> [String] {
    rows.flatMap { row in
      let term = "  " + row.term
      let lines = paragraph(row.explanation, indent: column)
      guard let first = lines.first else { return [term] }
      if term.count + 2 > column { return [term] + lines }
      return [term + first.dropFirst(term.count)] + lines.dropFirst()
    }
  }

  private func wrap(_ words: [String], indent: Int, hang: Int) -> [String] {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var isLineEmpty = true
    for word in words {
      if !isLineEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = String(repeating: " ", count: indent + hang)
        isLineEmpty = true
      }
      line += isLineEmpty ? word : " " + word
      isLineEmpty = false
    }
    return isLineEmpty ? lines : lines + [line]
  }
}
