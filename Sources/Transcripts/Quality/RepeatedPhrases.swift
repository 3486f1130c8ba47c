/// Finds phrases that stand several times in succession.
enum RepeatedPhrases {
  /// How often a phrase of so many words must stand there to be one: people do say "no, no, no".
  private static func enough(_ length: Int) -> Int {
    switch length {
    case 1: 6
    case 2: 4
    default: 3
    }
  }

  /// The loops of up to `longest` words in order; case and punctuation do not matter. Each is told by
  /// its shortest phrase. O(n · longest).
  static func loops(in words: [TimedWord], longest: Int) -> [QualityReport.Loop] {
    let keys = numbered(words)
    var found: [(range: Range<Int>, length: Int, count: Int)] = []
    // The end of the loop, of a shorter phrase, that each word is in.
    var loopEnd = Array(repeating: 0, count: keys.count)
    for length in 1...max(longest, 1) where length < keys.count {
      var start = 0
      while start + length < keys.count {
        var end = start
        while end + length < keys.count, keys[end] == keys[end + length] { end += 1 }
        let range = start..<end + length
        let count = range.count / length
        if count >= enough(length), loopEnd[start] < range.upperBound {
          found.append((range, length, count))
          for index in range { loopEnd[index] = max(loopEnd[index], range.upperBound) }
        }
        start = end + 1
      }
    }
    return found.sorted { $0.range.lowerBound < $1.range.lowerBound }.map { range, length, count in
      let phrase = words[range.prefix(length)].map(\.text).joined(separator: " ")
      return QualityReport.Loop(
        phrase: phrase, count: count, firstWord: range.lowerBound,
        start: words[range.lowerBound].start)
    }
  }

  /// A number for each word, the same for words that are the same when spoken.
  private static func numbered(_ words: [TimedWord]) -> [Int] {
    var numbers: [String: Int] = [:]
    return words.map { word in
      let letters = word.text.lowercased().filter { $0.isLetter || $0.isNumber }
      let key = letters.isEmpty ? word.text : letters
      let number = numbers[key] ?? numbers.count
      numbers[key] = number
      return number
    }
  }
}
