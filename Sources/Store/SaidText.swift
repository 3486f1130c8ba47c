internal import Spelling

/// Text as the index compares what is said: signs and abbreviations in English words, and every whole
/// number as one token of digits, so that 20 is no part of twenty three.
enum SaidText {
  /// Each word as it is compared, as many as there are words; empty where nobody says it. A number of
  /// several words stands in the first of them, and the others are empty. O(n).
  /// - Parameters:
  ///   - written: the words as they are written.
  ///   - isEnglish: whether all is English. Of another language only what has digits or signs is told
  ///     as an English text would have it: a query for `20 %` finds it there, too.
  static func words(of written: [String], isEnglish: Bool) -> [String] {
    let said = EnglishSpelling().said(written)
    if isEnglish { return withDigits(said, written) }
    return zip(written, said).map { word, said in
      let isShort = hasSign(word) || word.contains(where: \.isNumber)
      return isShort ? withDigits([said], [word])[0] : word
    }
  }

  /// The ways in which a text may be said, each as one text, the likeliest first.
  static func readings(of written: [String]) -> [String] {
    EnglishSpelling().readings(of: written).map { withDigits($0, written).joined(separator: " ") }
  }

  /// Whether there is a sign in it that is said, and that no token holds: `C++` is not `C`. O(n).
  static func hasSign(_ text: String) -> Bool {
    text.unicodeScalars.contains { scalar in
      switch scalar.properties.generalCategory {
      case .mathSymbol, .currencySymbol, .otherSymbol: true
      default: "%&#@§‰".unicodeScalars.contains(scalar)
      }
    }
  }

  private static func withDigits(_ said: [String], _ written: [String]) -> [String] {
    var result = said
    var row: [(word: Int, part: String)] = []
    func endRow() {
      defer { row = [] }
      guard !row.isEmpty else { return }
      for (word, _) in row { result[word] = "" }
      let parts = row.map(\.part)
      var index = 0
      while index < parts.count {
        let number = SpokenNumber(parts[index...])
        let word = row[index].word
        result[word] += (result[word].isEmpty ? "" : " ") + (number?.digits ?? parts[index])
        index += number?.count ?? 1
      }
    }
    for (index, text) in said.enumerated() {
      let word = written[index]
      let parts = text.lowercased().split(separator: " ")
        .map { String($0.trimming { $0.isPunctuation }) }
      // What is written with digits is a number of its own, and so is what a comma parts.
      let hasDigits = word.contains(where: \.isNumber)
      let isNumber = !parts.isEmpty && parts.allSatisfy(SpokenNumber.mayContain)
      if hasDigits || !isNumber || word.first?.isLetter != true { endRow() }
      guard hasDigits || isNumber || parts.count > 1 else { continue }
      row += parts.map { (index, $0) }
      if hasDigits || !isNumber || word.last?.isLetter != true { endRow() }
    }
    endRow()
    return result
  }
}

extension Substring {
  /// What is left without such characters at either end. O(n).
  fileprivate func trimming(_ isOutside: (Character) -> Bool) -> Substring {
    var rest = drop(while: isOutside)
    while let last = rest.last, isOutside(last) { rest.removeLast() }
    return rest
  }
}
