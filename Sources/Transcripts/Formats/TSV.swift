import Platform

/// Whisper's table: tab-separated `start`, `end` and `text`, with times in whole milliseconds.
extension TranscriptFormat {
  static let tsv = TranscriptFormat(
    name: "tsv", summary: "a table of segments, as Whisper writes it",
    nameEndings: [".tsv"], likeness: likeness, parse: parse, text: text)
  private static let header = "start\tend\ttext"

  private static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    guard let first = lines.nextWithText() else { return .none }
    if columns(of: first) != nil { return .certain }
    return (try? row(first, Columns(start: 0, end: 1, text: 2, speaker: nil))) == nil
      ? .none : .possible
  }

  private struct Columns {
    var start: Int
    var end: Int
    var text: Int
    var speaker: Int?
  }

  /// The column order by a header; nil for other lines.
  private static func columns(of line: SourceLine) -> Columns? {
    let names = line.fields.map {
      WrittenWords.trimmed(String(decoding: $0, as: UTF8.self)).lowercased()
    }
    guard let start = names.firstIndex(of: "start"), let end = names.firstIndex(of: "end"),
      let text = names.firstIndex(of: "text")
    else { return nil }
    return Columns(start: start, end: end, text: text, speaker: names.firstIndex(of: "speaker"))
  }

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
    var lines = source.lines
    var segments: [Segment] = []
    var known: Columns?
    while let line = lines.nextWithText() {
      if known == nil {
        known = columns(of: line)
        if known != nil { continue }
      }
      let columns = known ?? Columns(start: 0, end: 1, text: 2, speaker: nil)
      known = columns
      segments.append(try row(line, columns))
    }
    return Transcript(segments: segments)
  }

  private static func row(_ line: SourceLine, _ columns: Columns) throws(SpoolError) -> Segment {
    let fields = line.fields
    guard fields.count > max(columns.start, columns.end) else {
      throw line.error(at: line.bytes.endIndex, expected: "a tab and another column")
    }
    var times: [Double?] = []
    for field in [fields[columns.start], fields[columns.end]] {
      times.append(try line.number(in: field, unit: "milliseconds").map { $0 / 1000 })
    }
    func text(_ column: Int?) -> String? {
      guard let column, column < fields.count else { return nil }
      // The text is the last column, and may contain tabs.
      let isLast =
        columns.text == column
        && [columns.start, columns.end, columns.speaker ?? 0].allSatisfy { $0 < column }
      let parts = isLast ? fields[column...] : fields[column...column]
      return WrittenWords.onOneLine(
        parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " "))
    }
    let (start, end) = Times.ordered(times[0], times[1])
    let speaker = text(columns.speaker).flatMap { $0.isEmpty ? nil : $0 }
    return Segment(text: text(columns.text) ?? "", start: start, end: end, speaker: speaker)
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var text = header + "\n"
    for timed in try transcript.inTurns.timedSegments(for: tsv.name) {
      text += "\(ClockText.milliseconds(timed.start))\t\(ClockText.milliseconds(timed.end))\t"
      text += WrittenWords.onOneLine(timed.segment.text) + "\n"
    }
    return text
  }
}
