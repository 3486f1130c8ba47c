internal import PipelineModel

/// The words that may stand in one place, and what people write for them elsewhere.
struct Vocabulary {
  private let words: [String]
  private let synonyms: [String: String]

  /// Words in the order in which people are told of them.
  init(_ words: [String], synonyms: [String: String] = [:]) {
    self.words = words
    self.synonyms = synonyms
  }

  /// The words for a message.
  var list: String { words.joined(separator: ", ") }

  /// Whether a word may stand here.
  func contains(_ word: String) -> Bool { words.contains(word) }

  /// The word that was probably meant.
  func nearest(to word: String) -> String? {
    synonyms[word.lowercased()] ?? Problem.nearest(to: word, in: words)
  }
}
