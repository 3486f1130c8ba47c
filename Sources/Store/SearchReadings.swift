internal import Spelling

/// The ways in which what is looked for may stand in a transcript: as it was typed, with its numbers as
/// digits and as words, and as it is said in English.
struct SearchReadings {
  /// Each as its tokens, the one that was typed first; none where nothing of it is a word.
  let readings: [[String]]
  /// The likeliest way in which it is said; the same as the first reading where it is said like that.
  let said: [String]

  /// More would make a query slow, and hardly find more.
  private static let most = 16

  /// - Parameter tokens: takes text apart as the index does.
  init(of text: String, tokens: (String) -> [String]) {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    var readings = SpokenNumber.readings(of: tokens(text))
    let ways = EnglishSpelling().readings(of: words).map(tokens).filter { !$0.isEmpty }
    for way in ways where !readings.contains(way) { readings.append(way) }
    said = ways.first ?? readings.first ?? []
    self.readings = Array(readings.prefix(Self.most))
  }
}
