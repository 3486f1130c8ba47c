import Speech
import Transcripts

extension Transcript {
  /// The same words with the times that were found for them.
  func timed(by result: AlignmentResult, spoken: [SpokenWord]) -> Transcript {
    var transcript = self
    transcript.words = words.timed(by: result, spoken: spoken)
    for index in segments.indices {
      transcript.segments[index].start = transcript.segments[index].words.first?.start
      transcript.segments[index].end = transcript.segments[index].words.last?.end
    }
    return transcript
  }
}

extension [TimedWord] {
  /// The same words with the times that were found for them.
  ///
  /// - Parameter others: the same words where they were heard in other sound of the same time; nil
  ///   where they cannot be there. A word of which this sound is not sure stays there as it would with
  ///   a given time.
  func timed(
    by result: AlignmentResult, spoken: [SpokenWord], orElse others: [TimedWord?] = []
  ) -> [TimedWord] {
    let others = others.isEmpty ? map { _ in nil } : others
    let times = GivenTimes(words: zip(self, others).map { $1 ?? $0 }, result: result)
    var timed = self
    var lastStart = 0.0
    for index in indices {
      let place = result.words[index]
      if !spoken[index].isSpoken || !times.areBetter(at: index) {
        timed[index].take(place, isSpoken: spoken[index].isSpoken)
      } else if let other = others[index] {
        if !place.isHeard || other.isElsewhere(than: place) {
          timed[index] = other
        } else {
          timed[index].take(place, isSpoken: true)
        }
      } else {
        timed[index].keepTimes()
      }
      lastStart = timed[index].follow(lastStart)
    }
    return timed
  }
}

extension TimedWord {
  /// Places of a word in two channels that differ by less are the same, in seconds.
  private static let sameness = 0.3

  /// Whether it is not where it was found in other sound.
  fileprivate func isElsewhere(than place: AlignedWord) -> Bool {
    abs((start ?? place.start) - place.start) > Self.sameness
  }

  /// Begins no earlier than the word before, whose time may be of another origin, and gives its
  /// beginning.
  fileprivate mutating func follow(_ earliest: Double) -> Double {
    let begin = max(start ?? earliest, earliest)
    start = begin
    end = max(end ?? begin, begin)
    return begin
  }

  /// Keeps the given times, and flags the word as not heard there.
  fileprivate mutating func keepTimes() {
    confidence = min(confidence ?? 0, 0.49)
    flags = .uncertain
    if isOverlong { flags.insert(.overlong) }
  }

  /// Takes a place over, and says what is to be known about it.
  mutating func take(_ place: AlignedWord, isSpoken: Bool) {
    start = place.start
    end = place.end
    confidence = place.confidence
    flags = []
    if !place.isHeard { flags.insert(.interpolated) }
    if place.isHeard, place.confidence < 0.5 { flags.insert(.uncertain) }
    if isOverlong { flags.insert(.overlong) }
    if isSpoken, !place.isHeard, isCramped { flags.insert(.cramped) }
  }
}

/// The times that the words of a transcript had before it was aligned.
///
/// They are asked only for words of which the alignment is not sure, and only where they were right
/// about the words around: with times of another recording, or of one that was cut since, the words
/// are placed as if none had been given.
private struct GivenTimes {
  private let words: [TimedWord]
  private let places: [AlignedWord]
  /// For each word, the end of the last one before it that is known for sure, and the beginning of
  /// the next.
  private let before: [Double]
  private let after: [Double]
  /// The words that are known for sure and had a time, and by how much that was wrong, in seconds.
  private let checked: [(word: Int, distance: Double)]

  /// A word that is heard with less confidence is not known for sure.
  private static let sureness = 0.5
  /// How far times of two origins may overlap, in seconds.
  private static let slack = 0.1
  /// So many words on either side say whether the times between them are worth something.
  private static let witnessCount = 4
  /// Recognisers are off by tenths of a second. What is off by more, in seconds, is of other sound.
  private static let tolerance = 1.0

  init(words: [TimedWord], result: AlignmentResult) {
    self.words = words
    places = result.words
    var last = 0.0
    before = places.map { place in
      defer { if Self.isSure(place) { last = place.end } }
      return last
    }
    var next = Double.infinity
    after = places.reversed().map { place in
      defer { if Self.isSure(place) { next = place.start } }
      return next
    }.reversed()
    checked = zip(words, places).enumerated().compactMap { index, pair in
      guard Self.isSure(pair.1), let start = pair.0.start else { return nil }
      return (index, abs(start - pair.1.start))
    }
  }

  /// Whether a word is not heard for sure, and has times that lie between those of words that are,
  /// and are of this sound. O(log n).
  func areBetter(at index: Int) -> Bool {
    guard !Self.isSure(places[index]), let start = words[index].start, let end = words[index].end
    else { return false }
    return start < end && start >= before[index] - Self.slack && start <= after[index]
      && end <= after[index] + Self.slack && areOfThisSound(at: index)
  }

  /// Whether the times around a word were right, by the words that are known for sure.
  private func areOfThisSound(at index: Int) -> Bool {
    let next = checked.partitioningIndex(where: { $0.word >= index })
    let witnesses = checked[
      max(0, next - Self.witnessCount)..<min(checked.count, next + Self.witnessCount)]
    guard !witnesses.isEmpty else { return true }
    return witnesses.map(\.distance).sorted()[witnesses.count / 2] <= Self.tolerance
  }

  private static func isSure(_ place: AlignedWord) -> Bool {
    place.isHeard && place.confidence >= sureness
  }
}
