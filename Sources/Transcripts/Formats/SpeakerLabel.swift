/// `Name:` at the beginning of a paragraph.
enum SpeakerLabel {
  private static let longest = 40

  /// The name before the first colon of a line and what stands behind, where it looks like a name: at
  /// most four words of letters and digits, the first of them with a capital or of a script that has
  /// none, or with a number behind. O(1).
  static func split(_ line: String) -> (name: String, rest: String)? {
    let head = line.prefix(longest + 1)
    guard let colon = head.firstIndex(where: { $0 == ":" || $0 == "：" }) else { return nil }
    let name = String(line[..<colon])
    let rest = line[line.index(after: colon)...]
    guard rest.isEmpty || rest.first?.isWhitespace == true || line[colon] == "：", isName(name)
    else {
      return nil
    }
    return (name, WrittenWords.trimmed(String(rest)))
  }

  /// Whether a text can be told from others as a name before a colon.
  static func isName(_ name: String) -> Bool {
    guard name.count <= longest, let first = name.first, let last = name.last,
      !first.isWhitespace, !last.isWhitespace, first.isLetter
    else { return false }
    let words = name.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count <= 4, words.allSatisfy({ !$0.isEmpty }) else { return false }
    let isMarked = !first.isLowercase || last.isNumber
    return isMarked
      && name.allSatisfy { $0.isLetter || $0.isNumber || " .'’-_()".contains($0) }
      // A sentence may end before the colon's.
      && words.dropLast().allSatisfy { !$0.hasSuffix(".") || $0.count <= 4 }
  }
}
