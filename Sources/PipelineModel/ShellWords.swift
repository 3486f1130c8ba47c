/// Words as a shell takes them.
public enum ShellWords {
  /// One line that can be typed: words with anything but plain characters are quoted. O(n).
  public static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  /// The first word of a line, without the quotation marks around parts of it; nil where there is
  /// none, or a mark is not closed. O(its length).
  public static func first(of line: String) -> String? {
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
