import Speech
import Transcripts

/// The times that the words of a transcript had before it was aligned.
struct GivenTimes {
  private let words: [TimedWord]
  private let places: [AlignedWord]
  /// For each word, the end of the last one before it that is known for sure, and the beginning of
  /// the next.
  private let before: [Double]
  private let after: [Double]

  /// A word that is heard with less confidence is not known for sure.
  private static let sureness = 0.5
  /// How far times of two origins may overlap, in seconds.
  private static let slack = 0.1

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
  }

  /// Whether a word is not heard for sure, and has times that lie between those of words that are.
  func areBetter(at index: Int) -> Bool {
    guard !Self.isSure(places[index]), let start = words[index].start, let end = words[index].end
    else { return false }
    return start < end && start >= before[index] - Self.slack && start <= after[index]
      && end <= after[index] + Self.slack
  }

  private static func isSure(_ place: AlignedWord) -> Bool {
    place.isHeard && place.confidence >= sureness
  }
}
