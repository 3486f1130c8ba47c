/// Where the words of a segment stand in its text.
enum WordPlaces {
  /// How far ahead a word is looked for, in bytes: a word that is not in the text must not cost a
  /// walk through all of it.
  private static let reach = 512

  /// For each word the bytes that it stands at, behind the word before; nil for one that is not
  /// there. Upper and lower case of ASCII are the same.
  ///
  /// Complexity: O(*n*) in the text's length where the words are there, as they should be.
  static func find(_ words: [String], in text: [UInt8]) -> [Range<Int>?] {
    var cursor = 0
    return words.map { word in
      let wanted = Array(word.utf8)
      guard let place = place(of: wanted, in: text, from: cursor) else { return nil }
      cursor = place.upperBound
      return place
    }
  }

  private static func place(of word: [UInt8], in text: [UInt8], from start: Int) -> Range<Int>? {
    guard let first = word.first, text.count - start >= word.count else { return nil }
    let folded = lowercase(first)
    for index in start...min(text.count - word.count, start + reach) {
      guard lowercase(text[index]) == folded else { continue }
      let place = index..<index + word.count
      if zip(text[place], word).allSatisfy({ lowercase($0) == lowercase($1) }) { return place }
    }
    return nil
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
  }
}
