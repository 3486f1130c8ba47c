import Platform

/// An Audacity label track: tab-separated `start`, `end` and label, in seconds. Each word is a
/// label, or each segment without word times.
extension TranscriptFormat {
  static let audacity = TranscriptFormat(
    name: "audacity", summary: "labels for Audacity, one for each word",
    nameEndings: [".labels.txt", ".txt"], likeness: likeness, parse: parse, text: text)

  private static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    guard let first = lines.nextWithText(), let label = try? label(in: first) else { return .none }
    // Whole milliseconds mean TSV.
    let hasPoint = first.fields[0].contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }
    return hasPoint || label.end - label.start < 30 ? .certain : .possible
  }

  private static func parse(_ source: SourceText) throws(SpoolError) -> Transcript {
    var lines = source.lines
    var segments: [Segment] = []
    while let line = lines.nextWithText() {
      // The frequencies of a spectral label.
      if line.bytes.first == UInt8(ascii: "\\") { continue }
      let (start, end, text) = try label(in: line)
      let times = Times.ordered(start, end)
      var segment = Segment(text: text, start: times.start, end: times.end)
      if segment.words.count == 1 {
        segment.words[0].start = times.start
        segment.words[0].end = times.end
      }
      segments.append(segment)
    }
    return Transcript(segments: segments)
  }

  private static func label(
    in line: SourceLine
  ) throws(SpoolError) -> (start: Double, end: Double, text: String) {
    let fields = line.fields
    var times: [Double] = []
    for field in fields.prefix(2) {
      guard let time = try line.number(in: field, unit: "seconds") else {
        throw line.error(at: field.startIndex, expected: "seconds of at least 0")
      }
      times.append(time)
    }
    guard fields.count >= 2 else {
      throw line.error(at: line.bytes.endIndex, expected: "a tab and the label's end")
    }
    let text = fields.dropFirst(2).map { String(decoding: $0, as: UTF8.self) }
    return (times[0], times[1], WrittenWords.onOneLine(text.joined(separator: " ")))
  }

  private static func text(
    of transcript: Transcript, _ options: WritingOptions
  ) throws(SpoolError) -> String {
    var text = ""
    func add(_ start: Double, _ end: Double, _ label: String) {
      text += ClockText.seconds(start, decimals: 6) + "\t" + ClockText.seconds(end, decimals: 6)
      text += "\t\(WrittenWords.onOneLine(label))\n"
    }
    if options.hasWordTimes {
      for (word, start, end, _) in try transcript.timedWords(for: audacity.name) {
        add(start, end, word.text)
      }
    } else {
      for timed in try transcript.timedSegments(for: audacity.name) {
        add(timed.start, timed.end, timed.segment.text)
      }
    }
    return text
  }
}
