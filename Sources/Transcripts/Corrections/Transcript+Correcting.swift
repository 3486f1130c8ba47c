/// A transcript with corrections on top.
package struct CorrectedTranscript: Sendable {
  package private(set) var transcript: Transcript
  /// The changes whose place this transcript does not have, with the numbers of their corrections and
  /// the words that are there instead, as far as the place is known.
  package private(set) var missed: [(correction: Int, change: WordChange, now: [String])] = []

  /// Applies corrections in order, each to the result of those before. In the transcript that they were
  /// made for each finds its place; in another one a change finds it by its words and those around it,
  /// near its time. Where other words have taken the place of those that it removed, it is applied all
  /// the same to recognised words, and not to those of a written text. A change that a later one took
  /// back counts as little as that one.
  ///
  /// Complexity: O(*n* + *c*) for each correction of *c* changes that finds its places where they were;
  /// O(*n* × *c*) at worst.
  /// - Parameters:
  ///   - isWritten: whether the words are those of a text that a person gave.
  ///   - origin: the time in the recording of a time of the transcript: times of changes are the
  ///     recording's.
  package init(
    _ transcript: Transcript, with corrections: [Correction], isWritten: Bool = false,
    origin: (Double) -> Double = { $0 }
  ) {
    self.transcript = transcript
    for (number, correction) in corrections.withoutWithdrawn.enumerated() {
      var search = PlaceSearch(self.transcript.words, isWritten: isWritten, origin)
      var edits: [Transcript.Edit] = []
      for change in correction.changes {
        switch search.find(change) {
        case .place(let place):
          edits.append((place, change.inserted, change.endsParagraph == true))
        case .alreadyThere: break
        case .missing(let now):
          missed.append((number, change, now.map { self.transcript.words[$0].text }))
        }
      }
      self.transcript = self.transcript.replacing(edits)
    }
  }
}

/// Finds the places of the changes of one correction, in order.
private struct PlaceSearch {
  enum Outcome {
    case place(Range<Int>)
    /// The text reads already as the change would make it.
    case alreadyThere
    /// With the place of other words between the same neighbours; empty if there is none.
    case missing(Range<Int>)
  }

  private let plain: [String]
  /// The words with their case and punctuation.
  private let written: [String]
  /// Whether other words than those that a change removed stay as they are.
  private let isWritten: Bool
  /// When each word begins, in seconds of the recording; last, when the last one ends.
  private let times: [Double?]
  /// Where the next place may begin.
  private var cursor = 0
  /// How far the last place was from where it was in the text of the correction.
  private var shift = 0

  /// Seconds by which the times of two transcripts may differ.
  private static let tolerance = 1.5
  /// Words that a place may have more or fewer than the change removed.
  private static let surplus = 3

  init(_ words: [TimedWord], isWritten: Bool, _ origin: (Double) -> Double) {
    self.isWritten = isWritten
    times = (words.map(\.start) + [words.last?.end]).map { $0.map(origin) }
    plain = words.map { WordDifference.plain($0.text) }
    written = words.map(\.text)
  }

  mutating func find(_ change: WordChange) -> Outcome {
    let text = Words(change)
    let usual = change.index + shift
    if usual >= cursor, isExact(text, at: usual) {
      return took(usual..<usual + text.removed.count, change)
    }
    var best: (place: Range<Int>, score: Double)?
    var isThere = false
    for start in cursor...max(cursor, plain.count) where isNear(change, start) {
      if !text.inserted.isEmpty, isCorrected(text, change, at: start),
        score(text, start..<start + text.inserted.count) >= needed(text)
      {
        isThere = true
      }
      for place in places(text, from: start) {
        let score = score(text, place)
        guard score >= needed(text), score > best?.score ?? 0 else { continue }
        best = (place, score)
      }
    }
    if isThere, best.map({ $0.score < 3 }) ?? true { return .alreadyThere }
    guard let best else { return .missing(0..<0) }
    if isWritten, isCorrected(text, change, at: best.place.lowerBound),
      best.place.count == text.inserted.count
    {
      return .alreadyThere
    }
    let isAsBefore =
      text.isSpelling
      ? written[best.place].elementsEqual(change.removed)
      : plain[best.place].elementsEqual(text.removed)
    if isWritten, !isAsBefore { return .missing(best.place) }
    return took(best.place, change)
  }

  /// Whether the words here read as the change would make them: to the letter where it changes only case
  /// or punctuation.
  private func isCorrected(_ text: Words, _ change: WordChange, at start: Int) -> Bool {
    holds(text.inserted, at: start)
      && (!text.isSpelling
        || written[start..<start + text.inserted.count].elementsEqual(change.inserted))
  }

  /// What is compared of a change.
  private struct Words {
    let removed, inserted, before, after: [String]
    let isTimed: Bool
    /// Whether only case or punctuation changes.
    var isSpelling: Bool { removed == inserted }

    init(_ change: WordChange) {
      isTimed = change.start != nil
      removed = change.removed.map(WordDifference.plain)
      inserted = change.inserted.map(WordDifference.plain)
      before = change.before.map(WordDifference.plain)
      after = change.after.map(WordDifference.plain)
    }
  }

  private mutating func took(_ place: Range<Int>, _ change: WordChange) -> Outcome {
    cursor = place.upperBound
    shift = place.lowerBound - change.index
    if place.count != change.removed.count { shift += place.count - change.removed.count }
    return .place(place)
  }

  private func holds(_ text: [String], at start: Int) -> Bool {
    start >= 0 && start + text.count <= plain.count
      && plain[start..<start + text.count].elementsEqual(text)
  }

  /// Whether the words and all of their neighbours are there.
  private func isExact(_ text: Words, at start: Int) -> Bool {
    let end = start + text.removed.count
    return holds(text.removed, at: start) && holds(text.before, at: start - text.before.count)
      && holds(text.after, at: end)
      && (text.before.count == 3 || start == text.before.count)
      && (text.after.count == 3 || end + text.after.count == plain.count)
  }

  /// Whether a place may begin here by its time; where either has none, anywhere.
  private func isNear(_ change: WordChange, _ start: Int) -> Bool {
    guard let from = change.start, let to = change.end else { return true }
    guard times.indices.contains(start), let here = times[start] else { return true }
    return here >= from - Self.tolerance && here <= to + Self.tolerance
  }

  /// The places that may begin here: the removed words themselves, or whatever lies between the same
  /// neighbours.
  private func places(_ text: Words, from start: Int) -> [Range<Int>] {
    if !text.removed.isEmpty, holds(text.removed, at: start) {
      return [start..<start + text.removed.count]
    }
    guard let before = text.before.last, start > 0, plain[start - 1] == before,
      let after = text.after.first
    else { return [] }
    if text.removed.isEmpty {
      return start < plain.count && plain[start] == after ? [start..<start] : []
    }
    let limit = min(plain.count, start + text.removed.count + Self.surplus + 1)
    guard start < limit, let end = plain[start..<limit].firstIndex(of: after), end > start else {
      return []
    }
    return [start..<end]
  }

  /// What speaks for a place: its words, and each neighbour, the nearer the more.
  private func score(_ text: Words, _ place: Range<Int>) -> Double {
    var score = 0.0
    if !text.removed.isEmpty, holds(text.removed, at: place.lowerBound),
      place.count == text.removed.count
    {
      score += 2
    }
    for (distance, word) in text.before.reversed().enumerated() {
      let index = place.lowerBound - 1 - distance
      if index >= 0, plain[index] == word { score += 1 / Double(distance + 1) }
    }
    for (distance, word) in text.after.enumerated() {
      let index = place.upperBound + distance
      if index < plain.count, plain[index] == word { score += 1 / Double(distance + 1) }
    }
    return score
  }

  /// Two nearest neighbours or the words themselves, or all there is of a short text; without times one
  /// neighbour more.
  private func needed(_ text: Words) -> Double {
    let sides = Double((text.before.isEmpty ? 0 : 1) + (text.after.isEmpty ? 0 : 1))
    let all = (text.removed.isEmpty ? 0 : 2) + sides
    return max(1, min(text.isTimed ? 2 : 3, all))
  }
}

extension Transcript {
  /// New words at a place, and whether those at an empty one go with the word before it.
  typealias Edit = (place: Range<Int>, words: [String], endsParagraph: Bool)

  /// The transcript with other words at some places, in order. Other words keep their times; as many new
  /// words as there were take theirs over, and others share the place's time by their letters, with the
  /// flag `interpolated`; at a pause they share that of the word that they go with. New words have no
  /// confidence. Those between two segments are the second's, unless they end the paragraph.
  func replacing(_ edits: [Edit]) -> Transcript {
    guard !edits.isEmpty else { return self }
    let all = words
    let edits = Self.outOfPauses(edits, in: all)
    var result = self
    result.segments = []
    var rest = edits[...]
    var offset = 0
    for (number, segment) in segments.enumerated() {
      let end = offset + segment.words.count
      let isLast = number == segments.count - 1
      var own: [(place: Range<Int>, words: [TimedWord])] = []
      func isOwn(_ edit: Edit) -> Bool {
        edit.place.lowerBound < end || isLast
          || edit.endsParagraph && edit.place == end..<end && offset < end
      }
      while let edit = rest.first, isOwn(edit) {
        let inside = edit.place.clamped(to: offset..<max(offset, end))
        let isOneToOne = edit.words.count == edit.place.count
        let words = isOneToOne ? Array(edit.words.prefix(inside.count)) : edit.words
        let new =
          words.isEmpty
          ? []
          : Self.timed(
            words, at: isOneToOne ? inside : edit.place, in: all,
            isBehind: edit.endsParagraph)
        own.append((inside.lowerBound - offset..<inside.upperBound - offset, new))
        // The next segment has the rest of the place.
        if edit.place.upperBound > end, !isLast {
          rest[rest.startIndex].place = end..<edit.place.upperBound
          rest[rest.startIndex].words =
            isOneToOne ? Array(edit.words.dropFirst(inside.count)) : []
          break
        }
        rest.removeFirst()
      }
      let edited = own.isEmpty ? segment : segment.replacing(own)
      if own.isEmpty || !edited.words.isEmpty { result.segments.append(edited) }
      offset = end
    }
    if segments.isEmpty {
      result.segments = [Segment(words: edits.flatMap { $0.words.map { TimedWord($0) } })]
    }
    return result
  }

  /// Has words that are inserted into a pause share the time of the word that they go with. In the pause
  /// they would be shown far from it, and cut out with the pause.
  private static func outOfPauses(_ edits: [Edit], in words: [TimedWord]) -> [Edit] {
    var result: [Edit] = []
    for edit in edits {
      let index = edit.place.lowerBound
      let last = result.count - 1
      guard isInPause(edit, words) else {
        if last >= 0, result[last].place.upperBound > index {
          // Words before have taken the first word of this place along.
          result[last].words = result[last].words.dropLast() + edit.words
          result[last].place = result[last].place.lowerBound..<edit.place.upperBound
        } else {
          result.append(edit)
        }
        continue
      }
      if !edit.endsParagraph {
        result.append((index..<index + 1, edit.words + [words[index].text], false))
      } else if last >= 0, result[last].place.upperBound == index, !result[last].place.isEmpty {
        result[last].words += edit.words
      } else {
        result.append((index - 1..<index, [words[index - 1].text] + edit.words, false))
      }
    }
    return result
  }

  /// Whether words are inserted where there is more time than they take.
  private static func isInPause(_ edit: Edit, _ words: [TimedWord]) -> Bool {
    let index = edit.place.lowerBound
    guard edit.place.isEmpty, words.indices.contains(index), words.indices.contains(index - 1),
      let start = words[index - 1].end, let end = words[index].start
    else { return false }
    let letters = edit.words.reduce(0) { $0 + $1.count + 1 }
    return end - start > Double(letters) * secondsPerLetter
  }

  /// The time of a letter, and of the space behind a word, in slow speech.
  private static let secondsPerLetter = 0.1

  /// - Parameter isBehind: whether words at an empty place go with the word before them.
  private static func timed(
    _ texts: [String], at place: Range<Int>, in words: [TimedWord], isBehind: Bool
  ) -> [TimedWord] {
    let old = words[place]
    let neighbour = isBehind ? words[..<place.lowerBound].last : words[place.upperBound...].first
    let speaker = (old.first ?? neighbour)?.speaker
    if texts.count == old.count {
      return zip(texts, old).map { text, word in
        TimedWord(
          text, start: word.start, end: word.end, flags: word.flags.subtracting(.uncertain),
          speaker: word.speaker)
      }
    }
    let times = WordTimes(place, in: words)
    guard let start = times.start, let end = times.end else {
      return texts.map { TimedWord($0, speaker: speaker) }
    }
    let total = Double(texts.reduce(0) { $0 + $1.count + 1 })
    var done = 0
    return texts.map { text in
      let from = start + (end - start) * Double(done) / total
      done += text.count + 1
      let to = Double(done) < total ? start + (end - start) * Double(done) / total : end
      return TimedWord(text, start: from, end: to, flags: .interpolated, speaker: speaker)
    }
  }
}

extension Segment {
  /// The segment with other words at some places, in its text too.
  fileprivate func replacing(_ edits: [(place: Range<Int>, words: [TimedWord])]) -> Segment {
    let bytes = Array(text.utf8)
    let places = WordPlaces.find(words.map(\.text), in: bytes)
    var text = ""
    var result: [TimedWord] = []
    var cursor = 0
    var isAfterNew = false
    func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    func keep(_ range: Range<Int>) {
      for index in range {
        result.append(words[index])
        guard let place = places[index] else { continue }
        let gap = string(cursor..<place.lowerBound)
        let word = string(place)
        if isAfterNew, gap.isEmpty {
          text = WrittenWords.joined([text, word])
        } else {
          text += gap + word
        }
        (cursor, isAfterNew) = (place.upperBound, false)
      }
    }
    var next = 0
    for (place, new) in edits {
      keep(next..<place.lowerBound)
      var gap: String?
      for index in place {
        guard let old = places[index] else { continue }
        gap = gap ?? string(cursor..<old.lowerBound)
        cursor = old.upperBound
      }
      if !new.isEmpty {
        let written = WrittenWords.joined(new.map(\.text))
        if let gap, !gap.isEmpty || text.isEmpty {
          text += gap + written
        } else {
          text = text.isEmpty ? written : WrittenWords.joined([text, written])
        }
        isAfterNew = true
      } else if text.isEmpty, let gap {
        // What stands before the first word stays.
        text = gap
        isAfterNew = true
      }
      result += new
      next = place.upperBound
    }
    keep(next..<words.count)
    text += string(cursor..<bytes.count)
    return Segment(
      text: WrittenWords.trimmed(text), words: result, start: start, end: end, speaker: speaker)
  }
}
