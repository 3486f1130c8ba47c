/// Lyrics: `[01:02.34]` before each line, and `<01:02.34>` before each word as the enhanced form has
/// it. A line without text is where the one before ends.
///
/// Times are hundredths of a second: more, not all players read. Text that looks like a time is kept
/// apart from them by a ``WordJoiner``.
enum LRC: TranscriptCodec {
  static let name = "lrc"
  static let summary = "LRC lyrics, with the times of words"
  static let nameEndings = [".lrc"]

  static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    var hasTag = false
    for _ in 0..<20 {
      guard let line = lines.nextWithText() else { break }
      var scanner = ByteScanner(line.bytes)
      if !times(&scanner).isEmpty {
        // Hours are not in lyrics, and neither is who speaks: that is a transcript with stamps.
        if isTranscript(line, text: scanner.rest) { return .none }
        if scanner.rest.contains(where: { $0 > 0x20 }) { return .certain }
        hasTag = true
      }
      hasTag = hasTag || tag(in: line) != nil
    }
    return hasTag ? .possible : .none
  }

  private static func isTranscript(_ line: SourceLine, text: ArraySlice<UInt8>) -> Bool {
    let stamp = line.bytes.prefix { $0 != UInt8(ascii: "]") }
    let label = SpeakerLabel(WrittenWords.trimmed(String(decoding: text, as: UTF8.self)))
    return stamp.count { $0 == UInt8(ascii: ":") } > 1 || label?.isMarked == true
  }

  // MARK: Reading

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
    var transcript = Transcript()
    var lines = source.lines
    var timed: [(start: Double, pieces: [InlinePiece])] = []
    var untimed: [Segment] = []
    var offset = 0.0
    while let line = lines.nextWithText() {
      var scanner = ByteScanner(line.bytes)
      let starts = times(&scanner)
      if starts.isEmpty {
        if let (key, value) = tag(in: line) {
          if key == "la", !value.isEmpty { transcript.language = value }
          // Milliseconds by which the lyrics come earlier.
          if key == "offset" { offset = (Double(value) ?? 0) / 1000 }
          continue
        }
        guard try !isBroken(line) else { continue }
        untimed.append(Segment(text: WrittenWords.tidied(line.text)))
        continue
      }
      let pieces = LRCLine.pieces(of: scanner.rest)
      for start in starts { timed.append((start, pieces)) }
    }
    if !(abs(offset) <= 86_400) { offset = 0 }
    let isOrdered = zip(timed, timed.dropFirst()).allSatisfy { $0.start <= $1.start }
    if !isOrdered {
      timed = timed.enumerated()
        .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }.map(\.element)
    }
    transcript.segments = segments(of: timed, earlierBy: offset) + untimed
    return transcript
  }

  private static func segments(
    of lines: [(start: Double, pieces: [InlinePiece])], earlierBy offset: Double
  ) -> [Segment] {
    func moved(_ time: Double) -> Double { offset == 0 ? time : max(0, time - offset) }
    var segments: [Segment] = []
    for (index, line) in lines.enumerated() where !LRCLine.isEmpty(line.pieces) {
      let end = index + 1 < lines.count ? moved(lines[index + 1].start) : nil
      let pieces = line.pieces.map { piece in
        if case .time(let time) = piece { InlinePiece.time(moved(time)) } else { piece }
      }
      segments.append(InlineReading.segment(of: pieces, start: moved(line.start), end: end))
    }
    return segments
  }

  /// The times before a line; choruses have several.
  private static func times(_ scanner: inout ByteScanner) -> [Double] {
    var times: [Double] = []
    while true {
      let start = scanner.position
      scanner.skipSpace()
      guard scanner.skip("["), let time = scanner.clock(), scanner.skip("]") else {
        scanner.position = start
        return times
      }
      times.append(time)
    }
  }

  /// A line about the song: `[ar:Artist]`.
  private static func tag(in line: SourceLine) -> (key: String, value: String)? {
    let text = WrittenWords.trimmed(line.text)
    guard text.hasPrefix("["), text.hasSuffix("]"), let colon = text.firstIndex(of: ":") else {
      return text.hasPrefix("#") || text.hasPrefix("[#") ? ("#", text) : nil
    }
    let key = text[text.index(after: text.startIndex)..<colon]
    guard !key.isEmpty, key.utf8.allSatisfy({ (0x61...0x7a).contains($0 | 0x20) || $0 == 0x5f })
    else { return nil }
    let value = text[text.index(after: colon)...].dropLast()
    return (key.lowercased(), WrittenWords.trimmed(String(value)))
  }

  /// Whether a line means to begin with a time: that is an error, and not text.
  private static func isBroken(_ line: SourceLine) throws(TranscriptError) -> Bool {
    let start = line.bytes.drop { $0 == 0x20 || $0 == 0x09 }
    guard start.first == UInt8(ascii: "["), let sign = start.dropFirst().first,
      (0x30...0x39).contains(sign) || sign == UInt8(ascii: "-"),
      start.contains(UInt8(ascii: ":"))
    else { return false }
    throw line.error(at: start.startIndex + 1, expected: "a time such as 01:02.34, and ]")
  }

  // MARK: Writing

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
    var text = ""
    if let language = transcript.language.map(WrittenWords.onOneLine), !language.isEmpty {
      text += "[la:\(language)]\n"
    }
    let all = try TimedSegment.all(of: transcript)
    for (index, timed) in all.enumerated() {
      let start = LRCLine.rounded(timed.start)
      let next = index + 1 < all.count ? LRCLine.rounded(all[index + 1].start) : nil
      var segment = timed.segment
      segment.text = WrittenWords.onOneLine(segment.text)
      // The beginning of a word is always written: players expect it.
      let end = LRCLine.rounded(timed.end)
      let pieces = InlineWriting.pieces(
        of: segment, in: (nil, nil), hasTimes: options.hasWordTimes, rounded: LRCLine.rounded)
      text += "[\(ClockText.minutes(start))]\(LRCLine.text(of: pieces))\n"
      let isEndTold = next.map { $0 <= end } ?? (timed.segment.knownEnd == nil)
      if !isEndTold { text += "[\(ClockText.minutes(end))]\n" }
    }
    return text
  }
}
