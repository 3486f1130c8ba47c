internal import Platform

/// The words of one transcript as the index keeps them: each with its time, and with how many tokens
/// the full text search sees in it, as it is written and as it is said.
struct SearchWords: Sendable {
  /// A word; times are in ten-thousandths of a second, and nil where nobody knows.
  struct Word: Hashable, Sendable {
    /// As it is written.
    var text: String
    /// As it is said, by ``SaidText``: of `20 %`, `20` and `percent`.
    var said = ""
    var start: Int?
    var end: Int?
    var tokenCount = 1
    var saidTokenCount = 0
  }

  var words: [Word]

  /// How many units of time a second has.
  static let unitsPerSecond = 10_000.0
  /// Between words in the text that is searched: no token holds it.
  static let separator = "\n"

  init(_ words: [Word]) { self.words = words }

  /// Reads Spool's own form of a transcript; nil where it is another.
  init?(transcript bytes: [UInt8]) {
    guard let root = try? JSONReader.value(of: bytes, depthLimit: 16).value,
      let list = root["words"]?.list
    else { return nil }
    words = list.compactMap { value in
      guard let text = value["text"]?.text else { return nil }
      return Word(
        text: text.replacing(Self.separator, with: " "), start: Self.time(value["startTime"]),
        end: Self.time(value["endTime"]))
    }
    let said = SaidText.words(
      of: words.map(\.text), isEnglish: Self.isEnglish(root["language"]?.text))
    for index in words.indices {
      words[index].said = said[index].replacing(Self.separator, with: " ")
    }
  }

  /// Whether numbers and abbreviations are said in English: also where nobody names the language.
  private static func isEnglish(_ language: String?) -> Bool {
    let primary = language?.lowercased().prefix { $0.isLetter } ?? "en"
    return ["en", "eng", "english"].contains(primary)
  }

  private static func time(_ value: JSONValue?) -> Int? {
    guard let seconds = value?.number, (0..<1e9).contains(seconds) else { return nil }
    return Int((seconds * unitsPerSecond).rounded())
  }

  /// The text that is searched, as it is written.
  var text: String { words.map(\.text).joined(separator: Self.separator) }

  /// The text that is searched, as it is said.
  var said: String { words.map(\.said).joined(separator: Self.separator) }

  /// Says how many tokens lie in each word.
  /// - Parameter tokens: takes text apart as the full text search does.
  mutating func count(_ tokens: (String) -> [SearchTokenizer.Token]) {
    count(tokens(text), in: \.text, as: \.tokenCount)
    count(tokens(said), in: \.said, as: \.saidTokenCount)
  }

  private mutating func count(
    _ tokens: [SearchTokenizer.Token], in text: KeyPath<Word, String>,
    as number: WritableKeyPath<Word, Int>
  ) {
    var token = 0
    var end = 0
    for index in words.indices {
      end += words[index][keyPath: text].utf8.count + 1
      let first = token
      while token < tokens.count, tokens[token].start < end { token += 1 }
      words[index][keyPath: number] = token - first
    }
  }

  /// Times and token counts as they are kept: of each word one more than its start behind the start
  /// before it, or 0 where it has none; how long it is; how many tokens it has as it is written, and as
  /// it is said.
  var times: String {
    var numbers = SearchNumbers()
    var last = 0
    for word in words {
      if let start = word.start {
        let step = start - last
        numbers.append(1 + (step < 0 ? -2 * step - 1 : 2 * step))
        numbers.append(max(0, (word.end ?? start) - start))
        last = start
      } else {
        numbers.append(0)
      }
      numbers.append(word.tokenCount)
      numbers.append(word.saidTokenCount)
    }
    return numbers.text
  }
}
