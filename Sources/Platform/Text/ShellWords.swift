package enum ShellWords {
  /// A line for a shell: words with special characters are quoted. O(n).
  package static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  /// The first word of a line, unquoted; nil if there is none, or a quotation is not closed. O(its
  /// length).
  package static func first(of line: String) -> String? {
    var word: String?
    var mark: Character?
    var isEscaped = false
    for character in line {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", mark != "'" {
        isEscaped = true
      } else if character == mark {
        mark = nil
      } else if mark == nil, character == "'" || character == "\"" {
        (mark, word) = (character, word ?? "")
      } else if mark == nil, character.isWhitespace {
        if word != nil { break }
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return mark == nil && !isEscaped ? word : nil
  }

  private static func quoted(_ word: String) -> String {
    let plain = word.unicodeScalars.allSatisfy { scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "-", "+", ",", ":", "@", "=": true
      default: false
      }
    }
    guard !plain || word.isEmpty else { return word }
    return "'" + word.replacing("'", with: "'\\''") + "'"
  }
}

extension Unicode.Scalar {
  /// Whether it is invisible and may change how the text around it is shown: terminal control
  /// characters, line separators, and direction marks (Bidi_Control of Unicode), but no joiners of
  /// letters and emoji.
  package var isSteering: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }
}

/// Text that is equal only to the same bytes. Swift equates `é` in one scalar and in two; a disk
/// has two files.
package struct ExactText: Hashable, Sendable {
  private let bytes: [UInt8]

  package init(_ text: String) { bytes = Array(text.utf8) }
}
