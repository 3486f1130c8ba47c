/// Text as people write it: paragraphs with an empty line between them, and `Name:` before what
/// somebody says.
///
/// It has no times. A paragraph that begins with a name may have other names at the beginnings of its
/// lines: they begin paragraphs too.
enum PlainText: TranscriptCodec {
  static let name = "text"
  static let summary = "plain text, a paragraph for each segment"
  static let nameEndings = [".txt", ".text"]

  static func likeness(of source: SourceText) -> Likeness {
    source.bytes.prefix(4096).contains { $0 < 0x09 } ? .none : .possible
  }

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
    var transcript = Transcript()
    var lines = source.lines
    var paragraph: [String] = []
    var speaker: String?
    func finish() {
      let text = WrittenWords.tidied(paragraph.joined(separator: "\n"))
      if !text.isEmpty || speaker != nil {
        transcript.segments.append(Segment(text: text, speaker: speaker))
      }
      paragraph = []
      speaker = nil
    }
    while let line = lines.next() {
      let text = WrittenWords.trimmed(line.text)
      if text.isEmpty {
        finish()
        continue
      }
      let mayBegin = options.findsSpeakers && (paragraph.isEmpty || speaker != nil)
      guard mayBegin, let label = SpeakerLabel.split(text) else {
        paragraph.append(text)
        continue
      }
      finish()
      speaker = label.name
      if !label.rest.isEmpty { paragraph.append(label.rest) }
    }
    finish()
    return transcript
  }

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
    let paragraphs = transcript.inTurns.segments.compactMap { segment -> String? in
      let text = WrittenWords.tidied(segment.text)
      guard let speaker = segment.speaker.map(WrittenWords.onOneLine), !speaker.isEmpty else {
        return text.isEmpty ? nil : text
      }
      return speaker + ":" + (text.isEmpty ? "" : " " + text)
    }
    return paragraphs.isEmpty ? "" : paragraphs.joined(separator: "\n\n") + "\n"
  }
}
