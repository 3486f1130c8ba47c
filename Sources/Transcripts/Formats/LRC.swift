import Platform

/// LRC lyrics: `[01:02.34]` before each line, and `<01:02.34>` before each word in the enhanced
/// form. A line without text ends the one before.
///
/// Times are in hundredths of a second, which all players read. Text that looks like a time is
/// protected by a ``WordJoiner``.
extension TranscriptFormat {
  static let lrc = TranscriptFormat(
    name: "lrc", summary: "LRC lyrics, with the times of words",
    nameEndings: [".lrc"], likeness: likeness, parse: parse, text: text)

  private static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    var hasTag = false
    for _ in 0..<20 {
      guard let line = lines.nextWithText() else { break }
      var scanner = ByteScanner(line.bytes)
      if !times(&scanner).isEmpty {
        // Hours and speakers do not occur in lyrics: this is a transcript with time stamps.
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

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
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
          // Milliseconds to subtract from the times.
          if key == "offset" { offset = (Double(value) ?? 0) / 1000 }
          continue
        }
        guard try !isBroken(line) else { continue }
        untimed.append(Segment(text: WrittenWords.tidied(line.text)))
        continue
      }
      let pieces = Self.pieces(of: scanner.rest)
      for start in starts { timed.append((start, pieces)) }
    }
    if !(abs(offset) <= 86_400) { offset = 0 }
    timed.sort { $0.start < $1.start }
    transcript.segments = segments(of: timed, earlierBy: offset) + untimed
    return transcript
  }

  private static func segments(
    of lines: [(start: Double, pieces: [InlinePiece])], earlierBy offset: Double
  ) -> [Segment] {
    func moved(_ time: Double) -> Double { offset == 0 ? time : max(0, time - offset) }
    var segments: [Segment] = []
    for (index, line) in lines.enumerated() where !Self.isEmpty(line.pieces) {
      let end = index + 1 < lines.count ? moved(lines[index + 1].start) : nil
      let pieces = line.pieces.map { piece in
        if case .time(let time) = piece { InlinePiece.time(moved(time)) } else { piece }
      }
      segments.append(InlineReading.segment(of: pieces, start: moved(line.start), end: end))
    }
    return segments
  }

  /// The times before a line; a chorus has several.
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

  /// A metadata line: `[ar:Artist]`.
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

  /// Whether a line begins with an invalid time, which is an error and not text.
  private static func isBroken(_ line: SourceLine) throws(SpoolError) -> Bool {
    let start = line.bytes.drop { $0 == 0x20 || $0 == 0x09 }
    guard start.first == UInt8(ascii: "["), let sign = start.dropFirst().first,
      sign.isDigit || sign == UInt8(ascii: "-"),
      start.contains(UInt8(ascii: ":"))
    else { return false }
    throw line.error(at: start.startIndex + 1, expected: "a time such as 01:02.34, and ]")
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var text = ""
    if let language = transcript.language.map(WrittenWords.onOneLine), !language.isEmpty {
      text += "[la:\(language)]\n"
    }
    let all = try transcript.timedSegments(for: lrc.name)
    for (index, timed) in all.enumerated() {
      let start = Self.rounded(timed.start)
      let next = index + 1 < all.count ? Self.rounded(all[index + 1].start) : nil
      var segment = timed.segment
      segment.text = WrittenWords.onOneLine(segment.text)
      // The start of a word is always written: players expect it.
      let end = Self.rounded(timed.end)
      let pieces = InlineWriting.pieces(
        of: segment, in: (nil, nil), hasTimes: options.hasWordTimes, rounded: Self.rounded)
      text += "[\(ClockText.minutes(start))]\(Self.text(of: pieces))\n"
      let isEndTold = next.map { $0 <= end } ?? (timed.segment.knownEnd == nil)
      if !isEndTold { text += "[\(ClockText.minutes(end))]\n" }
    }
    return text
  }
}

/// The text of a line of lyrics, with times between its words.
extension TranscriptFormat {
  /// The pieces of a line after its time. O(n).
  private static func pieces(of bytes: ArraySlice<UInt8>) -> [InlinePiece] {
    var pieces: [InlinePiece] = []
    var scanner = ByteScanner(bytes)
    var textStart = scanner.position
    while let byte = scanner.next {
      let start = scanner.position
      guard byte == UInt8(ascii: "<"), scanner.skip("<"), let time = scanner.clock(),
        scanner.skip(">")
      else {
        scanner.position = start + 1
        continue
      }
      if start > textStart {
        pieces.append(.text(read(bytes[textStart..<start])))
      }
      pieces.append(.time(time))
      textStart = scanner.position
    }
    let rest = bytes[textStart...]
    if !rest.isEmpty { pieces.append(.text(read(rest))) }
    return pieces
  }

  /// Decodes text. O(n).
  private static func read(_ bytes: ArraySlice<UInt8>) -> String {
    var text = String(decoding: bytes, as: UTF8.self)
    for (sign, end) in brackets {
      text = WordJoiner.unguarded(text, at: sign) { isClock($0, before: end) }
    }
    return text
  }

  /// Encodes text so that no part of it parses as the time of a word or a line. O(n).
  private static func written(_ text: String) -> String {
    brackets.reduce(text) { text, bracket in
      WordJoiner.guarded(text, at: bracket.sign) { isClock($0, before: bracket.end) }
    }
  }

  private static let brackets: [(sign: Unicode.Scalar, end: String)] = [("<", ">"), ("[", "]")]

  private static func isClock(_ rest: Substring.UnicodeScalarView, before end: String) -> Bool {
    var scanner = ByteScanner(Array(String(rest.prefix(40)).utf8)[...])
    return scanner.clock() != nil && scanner.skip(end)
  }

  /// Whether it has no text.
  private static func isEmpty(_ pieces: [InlinePiece]) -> Bool {
    pieces.allSatisfy { piece in
      if case .text(let text) = piece { WrittenWords.trimmed(text).isEmpty } else { true }
    }
  }

  /// The text of a line; the format has no speakers. O(n).
  private static func text(of pieces: [InlinePiece]) -> String {
    var text = ""
    for piece in pieces {
      switch piece {
      case .text(let part): text += written(part)
      case .time(let time): text += "<\(ClockText.minutes(time))>"
      case .speaker: break
      }
    }
    return text
  }

  /// A time in the format's precision.
  private static func rounded(_ time: Double) -> Double { (time * 100).rounded() / 100 }
}
