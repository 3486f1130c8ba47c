/// Writes times and speakers between the words of a segment: the inverse of `InlineReading`.
struct InlineWriting {
  private var pieces: [InlinePiece] = []
  private var speaker: String?

  /// The pieces of a segment's line, without times unless `hasTimes`. Ambiguous times are dropped
  /// (a word with an end, before one without a start).
  ///
  /// - Parameters:
  ///   - segment: the segment to write.
  ///   - line: the line's start and end, in the format's precision.
  ///   - rounded: a time in the format's precision.
  static func pieces(
    of segment: Segment, in line: (start: Double?, end: Double?), hasTimes: Bool,
    rounded: (Double) -> Double
  ) -> [InlinePiece] {
    let text = Array(segment.text.utf8)
    let places = WordPlaces.find(segment.words.map(\.text), in: text)
    let found = zip(segment.words, places).compactMap { word, place in
      place.map { (word: word, place: $0) }
    }
    var writing = InlineWriting()
    var cursor = 0
    var ending: Double?
    for (index, (word, place)) in found.enumerated() {
      var start = hasTimes ? word.start.map(rounded) : nil
      if index == 0, start == line.start { start = nil }
      // A shared time is written before the word that starts, as lyrics players expect.
      writing.time(start == nil || start == ending ? nil : ending)
      writing.speak(word.speaker ?? segment.speaker) { writing in
        writing.text(text[cursor..<place.lowerBound])
      }
      writing.time(start)
      writing.text(text[place])
      cursor = place.upperBound
      ending = hasTimes && word.start != nil ? word.end.map(rounded) : nil
    }
    if let last = ending, last != line.end { writing.time(last) }
    if let end = line.end { writing.keepAscending(before: end) }
    writing.text(text[cursor...])
    if found.isEmpty { writing.pieces.insert(.speaker(segment.speaker), at: 0) }
    return writing.marked(found.first?.word, hasTimes: hasTimes, line: line, rounded: rounded)
  }

  /// A line with a timed word but no time between words gets one at its start: otherwise it would
  /// parse as untimed.
  private consuming func marked(
    _ first: TimedWord?, hasTimes: Bool, line: (start: Double?, end: Double?),
    rounded: (Double) -> Double
  ) -> [InlinePiece] {
    let hasTime = pieces.contains { if case .time = $0 { true } else { false } }
    guard hasTimes, !hasTime, let first, let start = first.start, first.end != nil else {
      return pieces
    }
    let index = pieces.firstIndex { if case .text = $0 { true } else { false } } ?? 0
    pieces.insert(.time(rounded(start)), at: index)
    return pieces
  }

  /// Drops times that do not ascend, or are not before the end of the line: its words end with it.
  private mutating func keepAscending(before end: Double) {
    var last = -Double.infinity
    pieces.removeAll { piece in
      guard case .time(let time) = piece else { return false }
      if time <= last || time >= end { return true }
      last = time
      return false
    }
  }

  private mutating func time(_ time: Double?) {
    if let time { pieces.append(.time(time)) }
  }

  private mutating func text(_ bytes: ArraySlice<UInt8>) {
    guard !bytes.isEmpty else { return }
    pieces.append(.text(String(decoding: bytes, as: UTF8.self)))
  }

  /// Changes the speaker around the space between two words.
  private mutating func speak(_ name: String?, between: (inout InlineWriting) -> Void) {
    let isChange = name != speaker
    if isChange, speaker != nil { pieces.append(.speaker(nil)) }
    between(&self)
    if isChange, name != nil { pieces.append(.speaker(name)) }
    speaker = name
  }
}
