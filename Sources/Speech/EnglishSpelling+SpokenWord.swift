public import Spelling

extension EnglishSpelling {
  /// How each word of a text is spoken, in order: as many as there are words.
  ///
  /// - Parameter words: the words as they are written, with the punctuation that touches them.
  public func spoken(_ words: [String]) -> [SpokenWord] {
    ways(of: words).map { SpokenWord(ways: $0) }
  }
}
