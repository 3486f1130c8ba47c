/// The smallest unit of subtitles: a word, or in scripts without spaces a character.
struct SubtitleAtom {
  enum Ending {
    case sentence
    case clause
    case word
    case character
    /// A syllable of a script whose readers recognise words.
    case syllable

    /// What a break after it costs: between subtitles, and between lines.
    var costs: (subtitle: Double, line: Double) {
      switch self {
      case .sentence: (0, 0)
      case .clause: (0.6, 0.25)
      case .word: (2, 1)
      case .character: (2.5, 1.5)
      case .syllable: (6, 4)
      }
    }
  }

  let text: String
  /// In columns.
  let width: Int
  /// Whether a space precedes it.
  let isSpaced: Bool
  /// The quality of a break after it.
  var ending: Ending
  let start: Double?
  let end: Double?
  /// The word that it is or belongs to.
  let word: TimedWord
  /// The word's index in its segment.
  let number: Int

  /// The atoms of a segment, in runs of one speaker. O(n).
  static func runs(
    of segment: Segment, separatesSpeakers: Bool
  ) -> [(speaker: String?, atoms: [SubtitleAtom])] {
    let words = WovenText.segment(segment.text, timed: segment.words).words
    let places = WordPlaces.find(words.map(\.text), in: Array(segment.text.utf8))
    var runs: [(speaker: String?, atoms: [SubtitleAtom])] = []
    var last = 0
    for (number, (word, place)) in zip(words, places).enumerated() {
      let speaker = separatesSpeakers ? word.speaker ?? segment.speaker : segment.speaker
      if runs.isEmpty || runs[runs.count - 1].speaker != speaker { runs.append((speaker, [])) }
      let isSpaced = place.map { $0.lowerBound > last } ?? true
      last = place?.upperBound ?? last
      let next = number + 1 < words.count ? words[number + 1].text : nil
      runs[runs.count - 1].atoms += atoms(of: word, number: number, isSpaced: isSpaced, next: next)
    }
    for index in runs.indices { closeJoints(&runs[index].atoms) }
    return runs
  }

  /// The words of adjacent atoms. An incomplete word is reduced to its atoms, with interpolated
  /// times.
  static func words(of atoms: ArraySlice<SubtitleAtom>, saidBy speaker: String?) -> [TimedWord] {
    var words: [TimedWord] = []
    var last: Int?
    for atom in atoms {
      if atom.number == last {
        words[words.count - 1].text += atom.text
        words[words.count - 1].end = atom.end
      } else {
        var word = atom.word
        (word.text, word.start, word.end) = (atom.text, atom.start, atom.end)
        if word.speaker == speaker { word.speaker = nil }
        words.append(word)
      }
      last = atom.number
      let index = words.count - 1
      let isWhole = words[index].text == atom.word.text
      words[index].flags = isWhole ? atom.word.flags : atom.word.flags.union(.interpolated)
    }
    return words
  }

  private static func atoms(
    of word: TimedWord, number: Int, isSpaced: Bool, next: String?
  ) -> [SubtitleAtom] {
    let parts = WritingRules.parts(of: word.text)
    let ending = WritingRules.ending(of: word.text, before: next)
    let total = Double(max(parts.reduce(0) { $0 + WritingRules.width(of: $1) }, 1))
    var done = 0.0
    return parts.enumerated().map { index, part in
      let width = WritingRules.width(of: part)
      func time(_ share: Double) -> Double? {
        guard let start = word.start, let end = word.end else { return nil }
        return share == 0 ? start : share >= 1 ? end : start + (end - start) * share
      }
      let from = done / total
      done += Double(width)
      let isLast = index + 1 == parts.count
      return SubtitleAtom(
        text: part, width: width, isSpaced: isSpaced && index == 0,
        ending: isLast ? ending : WritingRules.inside(part), start: time(from),
        end: time(isLast ? 1 : done / total), word: word, number: number)
    }
  }

  /// A break between words that touch without a space is one between characters.
  private static func closeJoints(_ atoms: inout [SubtitleAtom]) {
    for index in atoms.indices.dropLast() {
      let next = atoms[index + 1]
      guard !next.isSpaced, atoms[index].ending == .word else { continue }
      atoms[index].ending = WritingRules.inside(atoms[index].text)
    }
  }
}
