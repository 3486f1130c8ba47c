internal import Transcripts

extension SearchIndex {
  /// The words of one transcript as columns of the index: a line for each word, as written and as said,
  /// and their times.
  struct Page {
    let words: String
    let said: String
    /// For each word its start, counted from the start before, and its length, in ten-thousandths of a
    /// second; two dashes if it has no time.
    let times: String

    private static let unitsPerSecond = 10_000.0

    /// O(n). Words of captions have the times of their places in them.
    init(_ transcript: Transcript) {
      let spoken =
        transcript.words.allSatisfy { $0.start == nil }
        ? transcript.interpolatingUntimed.words : transcript.words
      let written = spoken.map { Self.line($0.text) }
      let language = transcript.language?.lowercased().prefix { $0.isLetter } ?? "en"
      words = written.joined(separator: "\n")
      said = SaidText.words(of: written, isEnglish: ["en", "eng", "english"].contains(language))
        .map(Self.line).joined(separator: "\n")
      var last = 0
      times = spoken.map { word in
        guard let start = Self.units(word.start) else { return "- -" }
        defer { last = start }
        let length = max(0, (Self.units(word.end) ?? start) - start)
        return "\(start - last) \(length)"
      }.joined(separator: " ")
    }

    /// Without control characters, which separate words and mark hits.
    private static func line(_ text: String) -> String {
      String(text.map { $0.unicodeScalars.allSatisfy { $0.value >= 32 } ? $0 : " " })
    }

    private static func units(_ seconds: Double?) -> Int? {
      guard let seconds, (0..<1e9).contains(seconds) else { return nil }
      return Int((seconds * unitsPerSecond).rounded())
    }

    /// The times of words in seconds, from ``times``; nil if there are not as many. O(n).
    static func times(_ text: String, count: Int) -> [ClosedRange<Double>?]? {
      let fields = text.split(separator: " ").map { Int($0) }
      guard fields.count == 2 * count else { return nil }
      var last = 0
      return (0..<count).map { word in
        guard let step = fields[2 * word], let length = fields[2 * word + 1] else { return nil }
        last += step
        return Double(last) / unitsPerSecond...Double(last + max(0, length)) / unitsPerSecond
      }
    }
  }
}

extension SearchIndex.Page {
  /// A column of a page in which FTS5 has marked what it found.
  struct Column {
    /// What FTS5 puts before and behind a match.
    static let (opening, closing): (UInt8, UInt8) = (2, 3)

    /// The words, without marks.
    private(set) var lines: [String] = []
    /// The words of each match, in order.
    private(set) var matches: [ClosedRange<Int>] = []

    /// - Parameter skipsNumberParts: whether to ignore matches inside a longer number, as of 3 in 3.5.
    init(_ text: String, skipsNumberParts: Bool) {
      let bytes = Array(text.utf8)
      var line: [UInt8] = []
      var (first, start) = (0, 0)
      for (index, byte) in bytes.enumerated() {
        switch byte {
        case Self.opening: (first, start) = (lines.count, index)
        case Self.closing:
          if skipsNumberParts, Self.isNumberPart(bytes, start...index) { continue }
          matches.append(first...lines.count)
        case UInt8(ascii: "\n"):
          lines.append(String(decoding: line, as: UTF8.self))
          line.removeAll(keepingCapacity: true)
        default: line.append(byte)
        }
      }
      lines.append(String(decoding: line, as: UTF8.self))
    }

    /// Whether a match, with its marks, is of digits alone and a point or comma joins it to others.
    private static func isNumberPart(_ bytes: [UInt8], _ match: ClosedRange<Int>) -> Bool {
      func isDigit(_ index: Int) -> Bool {
        bytes.indices.contains(index) && (48...57).contains(bytes[index])
      }
      func isJoined(_ joint: Int, _ digit: Int) -> Bool {
        bytes.indices.contains(joint) && ".,".utf8.contains(bytes[joint]) && isDigit(digit)
      }
      return (match.lowerBound + 1..<match.upperBound).allSatisfy(isDigit)
        && (isJoined(match.lowerBound - 1, match.lowerBound - 2)
          || isJoined(match.upperBound + 1, match.upperBound + 2))
    }
  }
}
