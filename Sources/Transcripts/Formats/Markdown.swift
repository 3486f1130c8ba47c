/// Markdown: a paragraph for each segment, with the speaker in bold before it, `**Name:** text`.
///
/// Read are the words of headings, lists, quotations and links; their marks are not, nor are front
/// matter, code blocks, rules and comments.
enum Markdown: TranscriptCodec {
  static let name = "markdown"
  static let summary = "Markdown, a paragraph for each segment"
  static let nameEndings = [".md", ".markdown"]

  static func likeness(of source: SourceText) -> Likeness {
    var lines = source.lines
    guard let first = lines.nextWithText() else { return .none }
    return first.bytes.starts(with: "# ".utf8) || first.bytes.starts(with: "**".utf8)
      ? .possible : .none
  }

  // MARK: Reading

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
    var transcript = Transcript()
    for paragraph in MarkdownBlocks.paragraphs(of: source) {
      var (speaker, rest) = MarkdownText.speaker(of: paragraph)
      // A bold line with a colon and nothing behind it is text.
      if rest.isEmpty { (speaker, rest) = (nil, paragraph) }
      let text = WrittenWords.tidied(MarkdownText.plain(rest))
      guard !text.isEmpty else { continue }
      transcript.segments.append(Segment(text: text, speaker: speaker))
    }
    return transcript
  }

  // MARK: Writing

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
    let paragraphs = transcript.inTurns.segments.compactMap { segment -> String? in
      let text = WrittenWords.lines(of: segment.text).map(MarkdownText.escaped)
        .joined(separator: "\n")
      guard let speaker = segment.speaker.map(WrittenWords.onOneLine), !speaker.isEmpty else {
        return text.isEmpty ? nil : text
      }
      return "**\(MarkdownText.escaped(speaker)):**" + (text.isEmpty ? "" : " " + text)
    }
    return paragraphs.isEmpty ? "" : paragraphs.joined(separator: "\n\n") + "\n"
  }
}
