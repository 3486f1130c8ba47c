import Platform

/// NIST's time-marked conversation format: a word per line, `recording channel start duration word
/// confidence`, optionally followed by `lex` and the speaker.
///
/// It has no segments: consecutive words of one speaker become one.
extension TranscriptFormat {
  static let ctm = TranscriptFormat(
    name: "ctm", summary: "NIST's CTM: a word a line, with its confidence",
    nameEndings: [".ctm"], likeness: likeness, parse: parse, text: text)

  private static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    while let line = lines.nextWithText() {
      let fields = fields(of: line)
      if isComment(fields) { continue }
      return 5...8 ~= fields.count && number(fields[2]) != nil && number(fields[3]) != nil
        ? .certain : .none
    }
    return .none
  }

  private static func fields(of line: SourceLine) -> [ArraySlice<UInt8>] {
    line.bytes.split(whereSeparator: \.isSpace)
  }

  private static func isComment(_ fields: [ArraySlice<UInt8>]) -> Bool {
    fields.first?.starts(with: ";;".utf8) == true
  }

  private static func number(_ field: ArraySlice<UInt8>) -> Double? {
    var scanner = ByteScanner(field)
    let number = scanner.decimal()
    return scanner.isAtEnd ? number : nil
  }

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
    var lines = source.lines
    var recording: ArraySlice<UInt8>?
    var words: [TimedWord] = []
    var channels: [String] = []
    // Of alternative hypotheses for a stretch the first is the best.
    var isFurtherAlternative = false
    while let line = lines.nextWithText() {
      let fields = fields(of: line)
      if isComment(fields) { continue }
      guard fields.count >= 5 else {
        throw line.error(
          at: line.bytes.endIndex, expected: "recording, channel, start, duration and word")
      }
      if fields[4].starts(with: "<ALT".utf8) {
        isFurtherAlternative = fields[4].elementsEqual("<ALT>".utf8)
        continue
      }
      if isFurtherAlternative { continue }
      guard recording == nil || recording?.elementsEqual(fields[0]) == true else {
        throw line.error(expected: "one recording in the file, and not a second")
      }
      recording = fields[0]
      words.append(try word(fields, in: line))
      channels.append(String(decoding: fields[1], as: UTF8.self))
    }
    // Channels of a call are speakers; a single channel carries no information.
    if Set(channels).count > 1 {
      for index in words.indices where words[index].speaker == nil {
        words[index].speaker = channels[index]
      }
    }
    return Transcript(segments: turns(of: words))
  }

  private static func word(
    _ fields: [ArraySlice<UInt8>], in line: SourceLine
  ) throws(SpoolError) -> TimedWord {
    var numbers: [Double] = []
    for field in fields[2...3] {
      guard let number = number(field) else {
        throw line.error(at: field.startIndex, expected: "seconds of at least 0")
      }
      numbers.append(number)
    }
    // Rounded, so that sums of decimals are decimals.
    let end = ((numbers[0] + numbers[1]) * 1_000_000).rounded() / 1_000_000
    var word = TimedWord(
      String(decoding: fields[4], as: UTF8.self), start: numbers[0], end: max(numbers[0], end))
    if fields.count > 5 {
      word.confidence = number(fields[5]).flatMap { $0 <= 1 ? $0 : nil }
    }
    if fields.count > 7 { word.speaker = String(decoding: fields[7], as: UTF8.self) }
    return word
  }

  private static func turns(of words: [TimedWord]) -> [Segment] {
    var segments: [Segment] = []
    var turn: [TimedWord] = []
    var speaker: String?
    func finish() {
      if !turn.isEmpty { segments.append(Segment(words: turn, speaker: speaker)) }
      turn = []
    }
    for var word in words {
      if word.speaker != speaker { finish() }
      speaker = word.speaker
      word.speaker = nil
      turn.append(word)
    }
    finish()
    return segments
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var text = ""
    for (word, start, end, speaker) in try transcript.timedWords(for: ctm.name) {
      guard let said = field(word.text) else { continue }
      let from = ClockText.milliseconds(start)
      let duration = ClockText.milliseconds(end) - from
      text += "recording 1 \(ClockText.seconds(start, decimals: 3)) "
      text += ClockText.seconds(Double(duration) / 1000, decimals: 3) + " \(said)"
      let speaker = speaker.flatMap(field)
      if let confidence = word.confidence {
        text += " \(ClockText.seconds(confidence, decimals: 3))"
      } else if speaker != nil {
        text += " NA"
      }
      if let speaker { text += " lex \(speaker)" }
      text += "\n"
    }
    return text
  }

  /// A text as one column; nil if it is empty.
  private static func field(_ text: String) -> String? {
    let parts = WrittenWords.split(text)
    return parts.isEmpty ? nil : parts.joined(separator: "_")
  }
}
