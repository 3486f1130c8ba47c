import Platform

/// Plain text: paragraphs separated by empty lines, with `Name:` before speech where
/// `SpeakerLabels` recognises a speaker.
///
/// The only times are stamps before lines, `[00:01:02]`, which begin paragraphs and are removed. A
/// speaker label at the start of a line within a paragraph that begins with one also begins a
/// paragraph. A label on its own belongs to the next paragraph if it recurs, and is text otherwise.
extension TranscriptFormat {
  package static let plainText = TranscriptFormat(
    name: "text", summary: "plain text, a paragraph for each segment",
    nameEndings: [".txt", ".text"], likeness: likeness, parse: parse, text: text)

  private static func likeness(of source: SourceText) -> Likeness {
    source.bytes.prefix(4096).contains { $0 < 0x09 } ? .none : .possible
  }

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
    let paragraphs = PlainParagraph.all(in: source)
    let labels = SpeakerLabels(in: paragraphs.map(\.lines))
    var said: [[Segment]] = []
    var waiting: SpeakerLabel?
    for (index, paragraph) in paragraphs.enumerated() {
      let lines = paragraph.lines
      let next = paragraphs.dropFirst(index + 1).first?.lines.first
      if waiting == nil, lines.count == 1, let label = labels.label(lines[0]),
        label.rest.isEmpty, labels.recurs(label), let next, labels.label(next) == nil
      {
        waiting = label
        said.append([])
        continue
      }
      said.append(labels.turns(of: lines, speaker: waiting?.name))
      waiting = nil
    }
    return transcript(said, paragraphs)
  }

  /// The segments with their paragraphs' times; without times if these are not in order.
  private static func transcript(
    _ said: [[Segment]], _ paragraphs: [PlainParagraph]
  ) -> Transcript {
    var segments: [Segment] = []
    let starts = paragraphs.compactMap(\.start)
    let areOrdered = zip(starts, starts.dropFirst()).allSatisfy { $0 <= $1 }
    var start: Double?
    for (index, turns) in said.enumerated() {
      var turns = turns
      let paragraph = paragraphs[index]
      // The time of a label on its own belongs to the next paragraph.
      start = paragraph.start ?? (index > 0 && said[index - 1].isEmpty ? start : nil)
      if areOrdered, let start, !turns.isEmpty {
        let next = paragraphs.dropFirst(index + 1).lazy.compactMap(\.start).first
        turns[0].start = start
        turns[turns.count - 1].end = paragraph.end ?? next
      }
      segments += turns
    }
    return Transcript(segments: segments)
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    let turns = transcript.inTurns.segments.compactMap {
      segment -> (speaker: String?, text: String)? in
      let text = WrittenWords.tidied(segment.text)
      let speaker = segment.speaker.map(WrittenWords.onOneLine).flatMap { $0.isEmpty ? nil : $0 }
      return text.isEmpty ? nil : (speaker, text)
    }
    let plain = turns.map { turn in (turn.speaker.map { $0 + ": " } ?? "") + turn.text }
    // If some names would be read as text, all names are bracketed.
    let labels = SpeakerLabels(in: plain.map(WrittenWords.lines))
    let areFound = zip(turns, plain).allSatisfy { turn, text in
      turn.speaker == nil
        || WrittenWords.lines(of: text).first.flatMap(labels.label)?.name == turn.speaker
    }
    let paragraphs =
      areFound ? plain : turns.map { BracketedSpeaker.joined($0.speaker, $0.text) }
    // Text that would be read as a time is protected.
    let lines = paragraphs.map { paragraph in
      WrittenWords.lines(of: paragraph).map(LineStamp.guarded).joined(separator: "\n")
    }
    return lines.isEmpty ? "" : lines.joined(separator: "\n\n") + "\n"
  }
}

/// A paragraph of a plain text, delimited by empty lines or times.
struct PlainParagraph {
  /// In seconds; nil if unknown.
  var start: Double?
  /// In seconds; nil if unknown.
  var end: Double?
  /// Its trimmed lines without times.
  var lines: [String] = []

  /// The paragraphs of a text. O(n).
  static func all(in source: SourceText) -> [PlainParagraph] {
    var lines = source.lines
    var paragraphs: [PlainParagraph] = []
    var isOpen = false
    while let line = lines.next() {
      let parts = WrittenWords.lines(of: line.text)
      // A time on its own belongs to the following text, across empty lines.
      if parts.isEmpty, paragraphs.last?.lines.isEmpty == false { isOpen = false }
      for part in parts {
        let stamp = LineStamp(part)
        if !isOpen || stamp != nil {
          paragraphs.append(PlainParagraph(start: stamp?.start, end: stamp?.end))
        }
        isOpen = true
        let text = stamp?.rest ?? LineStamp.unguarded(part)
        if !text.isEmpty { paragraphs[paragraphs.count - 1].lines.append(text) }
      }
    }
    return paragraphs.filter { !$0.lines.isEmpty }
  }
}

/// The time stamp of a line of a plain transcript: `[00:01:02]`, `(1:02)` or `[00:01:02.000 -->
/// 00:01:04.500]` at its start or after the speaker.
struct LineStamp {
  /// In seconds.
  let start: Double
  /// In seconds; nil if absent or before the start.
  let end: Double?
  /// The line without the stamp.
  let rest: String

  /// The longest name before a stamp, in characters.
  private static let longestName = 40
}

extension LineStamp {
  /// The stamp of a trimmed line; nil if there is none. O(n).
  init?(_ line: String) {
    if let stamp = Self.bracketed(line[...]) {
      self = stamp
      return
    }
    let head = line.prefix(Self.longestName)
    guard let open = head.dropFirst().firstIndex(where: { $0 == "[" || $0 == "(" }),
      let stamp = Self.bracketed(line[open...])
    else { return nil }
    // `JACK [00:12]: text`, `JACK (00:12)`, `JACK: [00:12] text`.
    let behind = line[..<open].reversed().drop(while: \.isWhitespace).first
    let name = WrittenWords.trimmed(String(line[..<open]))
    let isLabelled = behind == ":" || stamp.rest.hasPrefix(":") || stamp.rest.isEmpty
    let label = behind == ":" ? name : name + ":"
    guard isLabelled, SpeakerLabel(label + " …")?.rest == "…" else { return nil }
    let text = stamp.rest.hasPrefix(":") ? String(stamp.rest.dropFirst()) : stamp.rest
    let rest = WrittenWords.trimmed(text)
    self.init(start: stamp.start, end: stamp.end, rest: rest.isEmpty ? label : "\(label) \(rest)")
  }

  private static func bracketed(_ text: Substring) -> LineStamp? {
    guard let open = text.first, let close = ["[": "]", "(": ")"][open] else { return nil }
    var scanner = ByteScanner(Array(text.utf8)[...])
    guard scanner.skip(String(open)), let start = scanner.clock() else { return nil }
    var end: Double?
    scanner.skipSpace()
    if scanner.skip("-->") || scanner.skip("-") || scanner.skip("–") {
      scanner.skipSpace()
      guard let time = scanner.clock() else { return nil }
      end = time
    }
    guard scanner.skip(close) else { return nil }
    let rest = WrittenWords.trimmed(String(decoding: scanner.rest, as: UTF8.self))
    return LineStamp(start: start, end: Times.ordered(start, end).end, rest: rest)
  }

  /// A line of text encoded so that it does not parse as one with a stamp. O(n).
  static func guarded(_ line: String) -> String {
    guard looksStamped(line) else { return line }
    return brackets.reduce(line) { WordJoiner.guarded($0, at: $1) { _ in true } }
  }

  /// The inverse of `guarded`. O(n).
  static func unguarded(_ line: String) -> String {
    guard looksStamped(line) else { return line }
    return brackets.reduce(line) { WordJoiner.unguarded($0, at: $1) { _ in true } }
  }

  private static let brackets: [Unicode.Scalar] = ["[", "("]

  private static func looksStamped(_ line: String) -> Bool {
    LineStamp(WordJoiner.removed(from: line)) != nil
  }
}
