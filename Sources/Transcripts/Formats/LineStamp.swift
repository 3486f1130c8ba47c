/// The time at which a line of a plain transcript is said: `[00:01:02]`, `(1:02)` or
/// `[00:01:02.000 --> 00:01:04.500]` at its beginning, or behind who speaks.
struct LineStamp {
  /// In seconds.
  let start: Double
  /// In seconds; nil where it is not told, or lies before the beginning.
  let end: Double?
  /// The line without it.
  let rest: String

  /// The longest name that a stamp may stand behind, in characters.
  private static let longestName = 40

  /// The stamp of a line without white space at its ends; nil where it has none. O(n).
  init?(_ line: String) {
    if let stamp = Self.bracketed(line[...]) {
      self = stamp
      return
    }
    let head = line.prefix(Self.longestName)
    guard let open = head.dropFirst().firstIndex(where: { $0 == "[" || $0 == "(" }),
      let stamp = Self.bracketed(line[open...])
    else { return nil }
    // `JACK [00:12]: text`, `JACK (00:12)`, `JACK: [00:12] text`.
    let behind = line[..<open].reversed().drop(while: \.isWhitespace).first
    let name = WrittenWords.trimmed(String(line[..<open]))
    let isLabelled = behind == ":" || stamp.rest.hasPrefix(":") || stamp.rest.isEmpty
    let label = behind == ":" ? name : name + ":"
    guard isLabelled, SpeakerLabel(label + " …")?.rest == "…" else { return nil }
    let text = stamp.rest.hasPrefix(":") ? String(stamp.rest.dropFirst()) : stamp.rest
    let rest = WrittenWords.trimmed(text)
    self.init(start: stamp.start, end: stamp.end, rest: rest.isEmpty ? label : "\(label) \(rest)")
  }

  private init(start: Double, end: Double?, rest: String) {
    (self.start, self.end, self.rest) = (start, end, rest)
  }

  private static func bracketed(_ text: Substring) -> LineStamp? {
    guard let open = text.first, let close = ["[": "]", "(": ")"][open] else { return nil }
    var scanner = ByteScanner(Array(text.utf8)[...])
    guard scanner.skip(String(open)), let start = scanner.clock() else { return nil }
    var end: Double?
    scanner.skipSpace()
    if scanner.skip("-->") || scanner.skip("-") || scanner.skip("–") {
      scanner.skipSpace()
      guard let time = scanner.clock() else { return nil }
      end = time
    }
    guard scanner.skip(close) else { return nil }
    let rest = WrittenWords.trimmed(String(decoding: scanner.rest, as: UTF8.self))
    return LineStamp(start: start, end: Times.ordered(start, end).end, rest: rest)
  }

  // MARK: Text that looks like one

  /// A line of text that is not read as one with a stamp. O(n).
  static func guarded(_ line: String) -> String {
    guard looksStamped(line) else { return line }
    return brackets.reduce(line) { WordJoiner.guarded($0, at: $1) { _ in true } }
  }

  /// The line that `guarded` was given. O(n).
  static func unguarded(_ line: String) -> String {
    guard looksStamped(line) else { return line }
    return brackets.reduce(line) { WordJoiner.unguarded($0, at: $1) { _ in true } }
  }

  private static let brackets: [Unicode.Scalar] = ["[", "("]

  private static func looksStamped(_ line: String) -> Bool {
    LineStamp(WordJoiner.removed(from: line)) != nil
  }
}
