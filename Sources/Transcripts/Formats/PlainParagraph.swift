/// A paragraph of a plain text: what stands between empty lines, or from one time to the next.
struct PlainParagraph {
  /// When it begins, in seconds; nil where that is not told.
  var start: Double?
  /// When it ends, in seconds; nil where that is not told.
  var end: Double?
  /// Its lines, without white space at their ends and without times.
  var lines: [String] = []

  /// As one segment that nobody in particular says.
  var segment: Segment { Segment(text: lines.joined(separator: "\n")) }

  /// The paragraphs of a text. O(n).
  static func all(in source: SourceText) -> [PlainParagraph] {
    var lines = source.lines
    var paragraphs: [PlainParagraph] = []
    var isOpen = false
    while let line = lines.next() {
      let parts = WrittenWords.lines(of: line.text)
      // A time that stands alone belongs to what follows, across empty lines.
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
