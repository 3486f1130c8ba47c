/// Codes of places and fonts that editors of subtitles leave in the text: `{\\an8}`.
enum BraceCodes {
  /// A text without them: without whatever stands between `{\\` and `}` on one line. O(n).
  static func removed(from text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
    let scalars = Array(text.unicodeScalars)
    var kept = String.UnicodeScalarView()
    var (ends, lineEnds) = (SignFinder("}"), SignFinder("\n"))
    var index = 0
    while index < scalars.count {
      if scalars[index] == "{", index + 1 < scalars.count, scalars[index + 1] == "\\",
        let end = ends.place(in: scalars, from: index),
        end < lineEnds.place(in: scalars, from: index) ?? scalars.count
      {
        index = end + 1
      } else {
        kept.append(scalars[index])
        index += 1
      }
    }
    return String(kept)
  }
}
