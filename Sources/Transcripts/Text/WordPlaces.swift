/// Locates the words of a segment in its text.
enum WordPlaces {
  /// The search range for a word, in bytes: a missing word must not cost a pass through the whole
  /// text.
  private static let reach = 512

  /// For each word its byte range, after the previous word's; nil if it is missing. Ignores case.
  ///
  /// Complexity: O(*n*) in the text's length if the words are there.
  static func find(_ words: [String], in text: [UInt8]) -> [Range<Int>?] {
    let folded = folded(text)
    var cursor = 0
    return words.map { word in
      let wanted = Self.folded(Array(word.utf8))
      guard let place = place(of: wanted, in: folded, from: cursor) else { return nil }
      cursor = place.upperBound
      return place
    }
  }

  private static func place(of word: [UInt8], in text: [UInt8], from start: Int) -> Range<Int>? {
    guard let first = word.first, text.count - start >= word.count else { return nil }
    for index in start...min(text.count - word.count, start + reach) where text[index] == first {
      let place = index..<index + word.count
      if text[place].elementsEqual(word) { return place }
    }
    return nil
  }

  /// Lower-case text of the same byte positions: letters whose lower case has another length stay.
  private static func folded(_ text: [UInt8]) -> [UInt8] {
    var result = text.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
    guard text.contains(where: { $0 >= 0x80 }) else { return result }
    var offset = 0
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      let length = UTF8.width(scalar)
      if length > 1, scalar.properties.isUppercase {
        let small = Array(scalar.properties.lowercaseMapping.utf8)
        if small.count == length { result.replaceSubrange(offset..<offset + length, with: small) }
      }
      offset += length
    }
    return result
  }
}
