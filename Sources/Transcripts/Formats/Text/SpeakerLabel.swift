import Platform

/// `Name:`, `NAME:` or `[Name]:` at the start of a plain-text paragraph.
///
/// Many candidates are the start of a sentence, `Remember: …`: `SpeakerLabels` decides.
struct SpeakerLabel: Hashable {
  /// The name without brackets and colon.
  let name: String
  /// Whether its form occurs only in transcripts: capitals, or brackets.
  let isMarked: Bool
  /// The text after the colon on the same line.
  let rest: String

  private static let longest = 40
}

extension SpeakerLabel {
  /// The label at the start of a line: a name in brackets, or at most four words of letters and
  /// digits before the first colon, of which the first is capitalised or of a script without case,
  /// or the last ends in a digit; nil otherwise. O(1) except for `rest`.
  init?(_ line: String) {
    if case (let name?, let rest) = BracketedSpeaker.split(line) {
      self.init(name: name, isMarked: true, rest: rest)
      return
    }
    let head = line.prefix(Self.longest + 1)
    guard let colon = head.firstIndex(where: { $0 == ":" || $0 == "：" }) else { return nil }
    let name = String(line[..<colon])
    let rest = line[line.index(after: colon)...]
    guard rest.isEmpty || rest.first?.isWhitespace == true || line[colon] == "：",
      Self.isName(name)
    else { return nil }
    self.init(
      name: name, isMarked: Self.isInCapitals(name), rest: WrittenWords.trimmed(String(rest)))
  }

  /// Whether every word has the form of a name: `Dr. Smith`, `speaker 2`, `李雷`, but not `My
  /// question is`.
  var hasNameForm: Bool {
    name.last?.isNumber == true
      || name.split(separator: " ").allSatisfy { $0.first?.isLowercase == false }
  }

  private static func isName(_ name: String) -> Bool {
    guard let first = name.first, let last = name.last, !last.isWhitespace, first.isLetter else {
      return false
    }
    let words = name.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count <= 4, words.allSatisfy({ !$0.isEmpty }) else { return false }
    return (!first.isLowercase || last.isNumber)
      && name.allSatisfy { $0.isLetter || $0.isNumber || " .'’-_()".contains($0) }
      // A sentence may end before the colon's.
      && words.dropLast().allSatisfy { !$0.hasSuffix(".") || $0.count <= 4 }
  }

  private static func isInCapitals(_ name: String) -> Bool {
    name.count(where: \.isUppercase) >= 2 && !name.contains(where: \.isLowercase)
  }
}

/// Decides which labels of a plain text or of captions name speakers, by their use in the whole text.
///
/// A label names a speaker if it is in capitals or brackets, if it begins two or more paragraphs,
/// or if at least two different labels in the form of names begin most of the paragraphs. Other
/// labels are spoken text.
struct SpeakerLabels {
  private var counts: [String: Int] = [:]
  private var areUsual = false

  /// Examines the paragraphs' trimmed lines. O(n).
  init(in paragraphs: [[String]]) {
    var turnCount = 0
    var named: [String: Int] = [:]
    for paragraph in paragraphs {
      var isLabelled = false
      for (index, line) in paragraph.enumerated() where index == 0 || isLabelled {
        guard let label = SpeakerLabel(line) else {
          if index == 0 { turnCount += 1 }
          continue
        }
        isLabelled = true
        turnCount += 1
        counts[label.name, default: 0] += 1
        let isTurn = !label.rest.isEmpty || index + 1 < paragraph.count
        if isTurn, label.hasNameForm { named[label.name, default: 0] += 1 }
      }
    }
    areUsual = named.count >= 2 && 2 * named.values.reduce(0, +) > turnCount
  }

  /// The speaker label at the start of a line; nil if there is none. O(1).
  func label(_ line: String) -> SpeakerLabel? {
    guard let label = SpeakerLabel(line) else { return nil }
    return label.isMarked || recurs(label) || areUsual && label.hasNameForm ? label : nil
  }

  /// Whether a label occurs several times.
  func recurs(_ label: SpeakerLabel) -> Bool { counts[label.name, default: 0] > 1 }

  /// The speakers' turns of a paragraph.
  func turns(of paragraph: [String], speaker: String?) -> [Segment] {
    var turns: [(speaker: String?, lines: [String])] = []
    for (index, line) in paragraph.enumerated() {
      let mayBegin = index == 0 ? speaker == nil : turns.last?.speaker != nil
      let label = mayBegin ? self.label(line) : nil
      let next = paragraph.dropFirst(index + 1).first
      if let label, !label.rest.isEmpty {
        turns.append((label.name, [label.rest]))
      } else if let label, let next, self.label(next) == nil {
        turns.append((label.name, []))
      } else if turns.isEmpty {
        turns.append((speaker, [line]))
      } else {
        turns[turns.count - 1].lines.append(line)
      }
    }
    return turns.map { Segment(text: $0.lines.joined(separator: "\n"), speaker: $0.speaker) }
  }
}

extension [Segment] {
  /// Captions whose speakers stand before what they say, as in plain text: `JACK: …`. One with several
  /// speakers keeps them with its words. O(length of the text).
  var withLabelledSpeakers: [Segment] {
    let isOpen = map { cue in
      cue.speaker == nil && cue.words.allSatisfy { $0.speaker == nil }
    }
    let lines = map { WrittenWords.lines(of: $0.text) }
    let labels = SpeakerLabels(in: zip(lines, isOpen).filter(\.1).map(\.0))
    return indices.map { index in
      let cue = self[index]
      guard isOpen[index], let first = lines[index].first, labels.label(first) != nil else {
        return cue
      }
      let turns = labels.turns(of: lines[index], speaker: nil)
      var named = Segment(
        text: turns.map(\.text).joined(separator: "\n"), start: cue.start, end: cue.end)
      if turns.count == 1 {
        named.speaker = turns[0].speaker
        // Karaoke times belong to the words, of which the label was the first.
        let said = cue.words.suffix(named.words.count)
        if said.map(\.text) == named.words.map(\.text) { named.words = [TimedWord](said) }
      } else {
        named.words = turns.flatMap { turn in
          turn.words.map { TimedWord($0.text, speaker: turn.speaker) }
        }
      }
      return named.words.isEmpty ? cue : named
    }
  }
}

/// The speaker as part of the text, for formats without a field for it: `[Name]: text`.
enum BracketedSpeaker {
  /// The longest accepted name, in characters.
  private static let longestName = 80

  /// The speaker at the start of a text, and the rest; a name without text is text. O(n).
  static func split(_ text: String) -> (speaker: String?, rest: String) {
    guard text.hasPrefix("["), let end = text.prefix(longestName).firstIndex(of: "]") else {
      return (nil, text)
    }
    let name = WrittenWords.trimmed(String(text[text.index(after: text.startIndex)..<end]))
    let behind = text[text.index(after: end)...]
    let rest = WrittenWords.trimmed(String(behind.dropFirst()))
    guard behind.hasPrefix(":"), !rest.isEmpty, !name.isEmpty,
      !name.unicodeScalars.contains(where: \.endsLine)
    else {
      return (nil, text)
    }
    return (name, rest)
  }

  /// The text with its speaker; brackets in names become parentheses. O(n).
  static func joined(_ speaker: String?, _ text: String) -> String {
    guard let speaker, !WrittenWords.trimmed(speaker).isEmpty else { return text }
    let name = WrittenWords.onOneLine(speaker)
      .replacing(scalar: "[", with: "(").replacing(scalar: "]", with: ")")
    return "[\(name)]:" + (text.isEmpty ? "" : " " + text)
  }
}
