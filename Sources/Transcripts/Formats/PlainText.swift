/// Text as people write it: paragraphs with an empty line between them, and `Name:` before what
/// somebody says, where `SpeakerLabels` takes it for a speaker.
///
/// It has no times but those that stand before lines, `[00:01:02]`: they begin paragraphs, and are not
/// text. A paragraph that begins with a speaker may have others at the beginnings of its
/// lines: they begin paragraphs too. A label that stands alone belongs to the next paragraph where it
/// recurs, and otherwise it is text.
enum PlainText: TranscriptCodec {
  static let name = "text"
  static let summary = "plain text, a paragraph for each segment"
  static let nameEndings = [".txt", ".text"]

  static func likeness(of source: SourceText) -> Likeness {
    source.bytes.prefix(4096).contains { $0 < 0x09 } ? .none : .possible
  }

  // MARK: Reading

  static func read(
    _ source: SourceText, _ options: ReadingOptions
  ) throws(TranscriptError) -> Transcript {
    let paragraphs = PlainParagraph.all(in: source)
    guard options.findsSpeakers else {
      return transcript(paragraphs.map { [$0.segment] }, paragraphs)
    }
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
      said.append(turns(of: lines, labels, speaker: waiting?.name))
      waiting = nil
    }
    return transcript(said, paragraphs)
  }

  /// The segments with the times of their paragraphs; without any where these are not in order.
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
      // A label that stood alone has left its time to what follows.
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

  /// What is said in a paragraph, by one or several.
  private static func turns(
    of paragraph: [String], _ labels: SpeakerLabels, speaker: String?
  ) -> [Segment] {
    var turns: [(speaker: String?, lines: [String])] = []
    for (index, line) in paragraph.enumerated() {
      let mayBegin = index == 0 ? speaker == nil : turns.last?.speaker != nil
      let label = mayBegin ? labels.label(line) : nil
      let next = paragraph.dropFirst(index + 1).first
      if let label, !label.rest.isEmpty {
        turns.append((label.name, [label.rest]))
      } else if let label, let next, labels.label(next) == nil {
        turns.append((label.name, []))
      } else if turns.isEmpty {
        turns.append((speaker, [line]))
      } else {
        turns[turns.count - 1].lines.append(line)
      }
    }
    return turns.map { Segment(text: $0.lines.joined(separator: "\n"), speaker: $0.speaker) }
  }

  // MARK: Writing

  static func write(
    _ transcript: Transcript, _ options: WritingOptions
  ) throws(TranscriptError) -> String {
    let turns = transcript.inTurns.segments.compactMap {
      segment -> (speaker: String?, text: String)? in
      let text = WrittenWords.tidied(segment.text)
      let speaker = segment.speaker.map(WrittenWords.onOneLine).flatMap { $0.isEmpty ? nil : $0 }
      return text.isEmpty ? nil : (speaker, text)
    }
    let plain = turns.map { turn in (turn.speaker.map { $0 + ": " } ?? "") + turn.text }
    // Names that would be read as text stand in brackets, and so do the others then.
    let labels = SpeakerLabels(in: plain.map(WrittenWords.lines))
    let areFound = zip(turns, plain).allSatisfy { turn, text in
      turn.speaker == nil
        || WrittenWords.lines(of: text).first.flatMap(labels.label)?.name == turn.speaker
    }
    let paragraphs =
      areFound ? plain : turns.map { BracketedSpeaker.joined($0.speaker, $0.text) }
    // Text that would be read as a time is kept apart from one.
    let lines = paragraphs.map { paragraph in
      WrittenWords.lines(of: paragraph).map(LineStamp.guarded).joined(separator: "\n")
    }
    return lines.isEmpty ? "" : lines.joined(separator: "\n\n") + "\n"
  }
}
