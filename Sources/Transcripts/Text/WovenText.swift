/// Combines a text with the timed words of another source: every word of the text gets the times of
/// its counterpart.
///
/// Recognisers and aligners omit punctuation, case and unrecognised words; the text has them.
struct WovenText {
  private let text: [UInt8]
  private var words: [TimedWord] = []

  /// A segment with the words of `text`, and the times of those that are in `timed`; other timed
  /// words are dropped. Complexity: that of `WordPlaces.find`.
  static func segment(
    _ text: String, timed: [TimedWord], start: Double? = nil, end: Double? = nil,
    speaker: String? = nil
  ) -> Segment {
    var woven = WovenText(text: Array(text.utf8))
    woven.weave(timed)
    return Segment(text: text, words: woven.words, start: start, end: end, speaker: speaker)
  }

  /// The segment completed with the missing words of its text, if all its words occur there.
  /// Complexity: that of `WordPlaces.find`.
  static func completed(_ segment: Segment) -> Segment {
    let places = WordPlaces.find(segment.words.map(\.text), in: Array(segment.text.utf8))
    guard places.allSatisfy({ $0 != nil }) else { return segment }
    var result = segment
    result.words = Self.segment(segment.text, timed: segment.words).words
    return result
  }

  private mutating func weave(_ timed: [TimedWord]) {
    var cursor = 0
    for (word, place) in zip(timed, WordPlaces.find(timed.map(\.text), in: text)) {
      guard let place else { continue }
      var found = word
      found.text = fillGap(cursor..<place.lowerBound, isWordAhead: true) + string(place)
      words.append(found)
      cursor = place.upperBound
    }
    _ = fillGap(cursor..<text.count, isWordAhead: false)
  }

  /// Adds the words between two timed ones. An adjacent piece without letters or digits belongs to
  /// its neighbour; the part that belongs to the next word is returned.
  private mutating func fillGap(_ gap: Range<Int>, isWordAhead: Bool) -> String {
    let between = string(gap)
    let scalars = between.unicodeScalars
    var parts = WrittenWords.split(between)
    if let first = parts.first, !words.isEmpty, scalars.first?.isSpace == false,
      !Self.hasLetters(first)
    {
      words[words.count - 1].text += first
      parts.removeFirst()
    }
    var ahead = ""
    if isWordAhead, let last = parts.last, scalars.last?.isSpace == false, !Self.hasLetters(last) {
      ahead = last
      parts.removeLast()
    }
    words += parts.map { TimedWord($0) }
    return ahead
  }

  private func string(_ place: Range<Int>) -> String {
    String(decoding: text[place], as: UTF8.self)
  }

  private static func hasLetters(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.properties.isAlphabetic || $0.properties.numericType != nil }
  }
}
