/// The ways in which what is looked for may stand in a transcript: as it was typed, and as it is said in
/// English, with its numbers as digits.
struct SearchReadings {
  /// Each as its tokens; none where nothing of it is a word. The first is what was typed, unless that
  /// has signs which no token holds: then only what is said is meant.
  let readings: [[String]]
  /// The likeliest way in which it is said; the same as the first reading where it is said like that.
  let said: [String]

  /// - Parameter tokens: takes text apart as the index does.
  init(of text: String, tokens: (String) -> [String]) {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    let ways = SaidText.readings(of: words).map(tokens).filter { !$0.isEmpty }
    let typed = tokens(text)
    said = ways.first ?? typed
    var readings = typed.isEmpty ? [] : [typed]
    // People leave signs out, too: $3.50 is "three fifty", and that would find 350.
    if SaidText.hasSign(text), let way = ways.first {
      readings = [way]
    } else {
      for way in ways where !readings.contains(way) { readings.append(way) }
    }
    self.readings = readings
  }
}
