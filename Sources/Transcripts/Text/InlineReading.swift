/// Parses a line with times between its words, as in WebVTT and LRC.
///
/// A single time between two words ends the first and starts the second. Of several, the first ends
/// a word and the last starts one. Without a time before its first word the line starts at its own;
/// likewise at its end.
struct InlineReading {
  private let hasTimes: Bool
  private var text = ""
  private var words: [TimedWord] = []
  private var word = ""
  private var speaker: String?
  // The times since the last letter.
  private var waiting: [Double] = []

  private init(_ pieces: [InlinePiece]) {
    hasTimes = pieces.contains { if case .time = $0 { true } else { false } }
  }

  /// The segment of a line's pieces. O(n).
  static func segment(of pieces: [InlinePiece], start: Double?, end: Double?) -> Segment {
    var reading = InlineReading(pieces)
    for piece in pieces { reading.read(piece) }
    reading.finishWord()
    reading.close(start: start, end: end)
    let names = Set(reading.words.map(\.speaker))
    let isOneVoice = names.count <= 1
    let voice = names.first ?? reading.speaker
    if isOneVoice { for index in reading.words.indices { reading.words[index].speaker = nil } }
    return Segment(
      text: WrittenWords.tidied(reading.text), words: reading.words, start: start, end: end,
      speaker: isOneVoice ? voice : nil)
  }

  private mutating func read(_ piece: InlinePiece) {
    switch piece {
    case .time(let time): waiting.append(time)
    case .speaker(let name):
      finishWord()
      speaker = name
    case .text(let part):
      for scalar in part.unicodeScalars { read(scalar) }
    }
  }

  private mutating func read(_ scalar: Unicode.Scalar) {
    text.unicodeScalars.append(scalar)
    if scalar.isSpace { return finishWord() }
    if !word.isEmpty, !waiting.isEmpty {
      // A time within a word separates syllables, except in scripts without spaces.
      let last = word.unicodeScalars.last
      if scalar.isWrittenWithoutSpaces || last?.isWrittenWithoutSpaces == true {
        finishWord()
      } else {
        waiting = []
      }
    }
    if word.isEmpty {
      if let index = words.indices.last { setEnd(of: index, waiting.first) }
      words.append(TimedWord("", start: waiting.last, speaker: speaker))
      waiting = []
    }
    word.unicodeScalars.append(scalar)
  }

  private mutating func finishWord() {
    guard !word.isEmpty, let index = words.indices.last else { return }
    words[index].text = word
    word = ""
  }

  private mutating func close(start: Double?, end: Double?) {
    guard hasTimes, let last = words.indices.last else { return }
    if words[0].start == nil {
      (words[0].start, words[0].end) = Times.ordered(start, words[0].end)
    }
    setEnd(of: last, waiting.first ?? end)
  }

  private mutating func setEnd(of index: Int, _ time: Double?) {
    guard let time, let start = words[index].start ?? (index == 0 ? 0 : nil), time >= start else {
      return
    }
    words[index].end = time
  }
}

/// A piece of a line with inline times and speakers.
enum InlinePiece: Hashable, Sendable {
  case text(String)
  /// A time in seconds.
  case time(Double)
  /// The speaker from here on; nil for none.
  case speaker(String?)
}
