import Platform

/// WebVTT subtitles (W3C): the language in the header, voices as `<v Name>`, and karaoke time
/// stamps between words, `<00:00:01.000>`.
///
/// Cue identifiers, positions, notes and styles are ignored.
extension TranscriptFormat {
  static let webVTT = TranscriptFormat(
    name: "vtt", summary: "WebVTT subtitles, with the times of words",
    nameEndings: [".vtt", ".webvtt"], likeness: likeness, parse: parse, text: text)

  private static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    return lines.next().map(isSignature) == true ? .certain : .none
  }

  private static func isSignature(_ line: SourceLine) -> Bool {
    guard line.bytes.starts(with: "WEBVTT".utf8) else { return false }
    let behind = line.bytes.dropFirst(6).first
    return behind == nil || behind == 0x20 || behind == 0x09
  }

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
    var lines = source.lines
    guard let first = lines.next(), isSignature(first) else {
      throw source.error(
        "the first line does not begin with WEBVTT", at: TextPlace(line: 1, column: 1))
    }
    var transcript = Transcript()
    // The header extends to an empty line or to the first cue.
    var isHeader = true
    var block: [SourceLine] = []
    while true {
      let line = lines.next()
      if let line, isHeader, transcript.language == nil { transcript.language = language(line) }
      if let line, !line.bytes.isEmpty, !startsCue(line, after: block) {
        block.append(line)
        continue
      }
      // A cue without an empty line before it may have its identifier in the line above.
      if !isHeader || block.contains(where: CueTimes.areIn) {
        if let segment = try segment(of: block) { transcript.segments.append(segment) }
      }
      guard let line else {
        transcript.segments = transcript.segments.withLabelledSpeakers
        return transcript
      }
      isHeader = isHeader && !line.bytes.isEmpty && !CueTimes.areIn(line)
      if line.bytes.isEmpty { isHeader = false }
      block = line.bytes.isEmpty ? [] : [line]
    }
  }

  /// Whether a line begins a block without an empty line before it.
  private static func startsCue(_ line: SourceLine, after block: [SourceLine]) -> Bool {
    guard CueTimes.areIn(line) else { return false }
    return block.count > 1 || block.contains(where: CueTimes.areIn)
  }

  private static func language(_ line: SourceLine) -> String? {
    let text = line.text
    guard text.hasPrefix("Language:") else { return nil }
    let language = WrittenWords.trimmed(String(text.dropFirst("Language:".count)))
    return language.isEmpty ? nil : language
  }

  /// The cue of a block; nil for a note or a style.
  private static func segment(of block: [SourceLine]) throws(SpoolError) -> Segment? {
    guard let index = block.prefix(2).firstIndex(where: CueTimes.areIn) else { return nil }
    let (start, end) = try CueTimes.read(block[index]).times
    let text = block[(index + 1)...].map(\.text).joined(separator: "\n")
    return InlineReading.segment(of: Self.pieces(of: text), start: start, end: end)
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var text = "WEBVTT\n"
    if let language = transcript.language.map(WrittenWords.onOneLine), !language.isEmpty {
      text += "Language: \(language)\n"
    }
    for timed in try transcript.timedSegments(for: webVTT.name) {
      text += "\n\(ClockText.hours(timed.start, point: "."))"
      text += " --> \(ClockText.hours(timed.end, point: "."))\n"
      var segment = timed.segment
      segment.text = WrittenWords.tidied(segment.text)
      let pieces = InlineWriting.pieces(
        of: segment, in: (rounded(timed.start), rounded(timed.end)),
        hasTimes: options.hasWordTimes, rounded: rounded)
      let line = Self.text(of: pieces)
      if !line.isEmpty { text += line + "\n" }
    }
    return text
  }

  private static func rounded(_ time: Double) -> Double {
    Double(ClockText.milliseconds(time)) / 1000
  }
}

/// WebVTT cue text: tags, times, character references, and brace codes of SubRip origin, which are
/// dropped.
extension TranscriptFormat {
  /// The pieces of a cue's text: voices and times; other tags are dropped, and an unclosed tag is
  /// text. O(n).
  private static func pieces(of text: String) -> [InlinePiece] {
    var pieces: [InlinePiece] = []
    let bytes = Array(BraceCodes.removed(from: text).utf8)[...]
    var scanner = ByteScanner(bytes)
    while !scanner.isAtEnd {
      let start = scanner.position
      guard scanner.take(upTo: UInt8(ascii: "<")) != nil else {
        pieces.append(.text(unescaped(bytes[start...])))
        break
      }
      if scanner.position - 1 > start {
        pieces.append(.text(unescaped(bytes[start..<scanner.position - 1])))
      }
      let tagStart = scanner.position
      guard let tag = scanner.take(upTo: UInt8(ascii: ">")) else {
        pieces.append(.text(unescaped(bytes[(tagStart - 1)...])))
        break
      }
      if let piece = piece(of: tag) { pieces.append(piece) }
    }
    return pieces
  }

  private static func piece(of tag: ArraySlice<UInt8>) -> InlinePiece? {
    var scanner = ByteScanner(tag)
    if let time = scanner.clock() { return scanner.isAtEnd ? .time(time) : nil }
    if tag.elementsEqual("/v".utf8) { return .speaker(nil) }
    guard tag.first == UInt8(ascii: "v") else { return nil }
    switch tag.dropFirst().first {
    case UInt8(ascii: "."), 0x20, 0x09, 0x0a: break
    default: return nil
    }
    // The name follows the classes, `<v.loud Name>`.
    guard let space = tag.firstIndex(where: { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a }) else {
      return nil
    }
    let name = WrittenWords.onOneLine(unescaped(tag[space...]))
    return .speaker(name.isEmpty ? nil : name)
  }

  private static let references: [(name: String, text: String)] = [
    ("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", "\u{a0}"), ("&lrm;", "\u{200e}"),
    ("&rlm;", "\u{200f}"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&amp;", "&"),
    ("&#123;", "{"), ("&#45;", "-"),
  ]

  private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
    guard bytes.contains(UInt8(ascii: "&")) else { return String(decoding: bytes, as: UTF8.self) }
    var result: [UInt8] = []
    var scanner = ByteScanner(bytes)
    while let byte = scanner.next {
      if byte == UInt8(ascii: "&"),
        let reference = references.first(where: { scanner.rest.starts(with: $0.name.utf8) })
      {
        result += reference.text.utf8
        scanner.position += reference.name.utf8.count
      } else {
        result.append(byte)
        scanner.position += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Formats pieces as cue text. O(n).
  private static func text(of pieces: [InlinePiece]) -> String {
    var text = ""
    var pieces = pieces[...]
    // A single voice needs no closing tag.
    let voices = pieces.count { if case .speaker = $0 { true } else { false } }
    if case .speaker(let name?)? = pieces.first, voices == 1 {
      text += "<v \(annotation(name))>"
      pieces.removeFirst()
    }
    for piece in pieces {
      switch piece {
      case .text(let part): text += escaped(part)
      case .time(let time): text += "<\(ClockText.hours(time, point: "."))>"
      case .speaker(let name?): text += "<v \(annotation(name))>"
      case .speaker(nil): text += "</v>"
      }
    }
    return text
  }

  private static func annotation(_ name: String) -> String {
    let name = escaped(WrittenWords.onOneLine(name))
    // With the end of the tag, two hyphens would be the arrow of a timing line.
    return name.hasSuffix("--") ? name.dropLast() + "&#45;" : name
  }

  private static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;".unicodeScalars
      case "<": result += "&lt;".unicodeScalars
      case ">": result += "&gt;".unicodeScalars
      case "\\" where result.last == "{":
        // Together they would begin a code.
        result.removeLast()
        result += "&#123;\\".unicodeScalars
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
