/// Words as a shell takes them.
public enum ShellWords {
  /// One line that can be typed: words with anything but plain characters are quoted. O(n).
  public static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

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
