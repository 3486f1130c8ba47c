/// Text as it is said, for a search in which the same thing is written in many ways.
extension EnglishSpelling {
  /// Each word of a text in the likeliest way it is spoken, as many as there are words. Words of letters
  /// stay as they are written, and what nobody speaks is empty.
  ///
  /// - Parameter words: the words as they are written, with the punctuation that touches them.
  public func said(_ words: [String]) -> [String] {
    zip(words, ways(of: words)).map { word, ways in
      Self.isSaidAsWritten(word, ways) ? word : ways.first?.joined(separator: " ") ?? ""
    }
  }

  /// The ways in which a phrase may be said, each as many texts as there are words: the likeliest of
  /// each word as ``said(_:)`` has it, then each with one word said otherwise, eight at most.
  public func readings(of words: [String]) -> [[String]] {
    let likeliest = said(words)
    var readings = [likeliest]
    for (index, ways) in ways(of: words).enumerated()
    where !Self.isSaidAsWritten(words[index], ways) {
      for way in ways.dropFirst() where readings.count < 8 {
        var reading = likeliest
        reading[index] = way.joined(separator: " ")
        readings.append(reading)
      }
    }
    return readings
  }

  /// Whether it is a word, not something short for others: what is spelled out as `BBC` is, or not, is
  /// looked for as it is written.
  private static func isSaidAsWritten(_ word: String, _ ways: [[String]]) -> Bool {
    let core = core(of: plain(word))
    guard !core.isEmpty, core.allSatisfy({ $0.isLetter || $0 == "'" }) else { return false }
    return ways.first == [core.lowercased()] || WordSpelling.isCapitals(core)
  }
}
