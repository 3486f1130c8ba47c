/// Some words of a text that are spoken in one go: a sentence, or part of a long one.
struct Utterance: Hashable {
  /// A written word, or a part of one, in the text of an utterance.
  struct Part: Hashable {
    /// The number of its first Unicode scalar.
    let place: Int
    /// How many it has.
    let length: Int
    /// The number of the word in the whole text.
    let word: Int
  }

  /// What is spoken.
  private(set) var text = ""
  /// Its words, in order.
  private(set) var parts: [Part] = []
  /// How many Unicode scalars it has.
  private(set) var length = 0

  /// An utterance that is longer ends at the next word, in Unicode scalars; a word that is longer is
  /// cut.
  private static let longest = 240
  /// From this length on it ends at a comma too.
  private static let long = 120
  private static let endings: Set<Character> = [".", "!", "?", "…", "。", "！", "？", "؟", "।", "۔"]
  private static let pauses: Set<Character> = [",", ";", ":", "，", "；", "：", "、", "،", "؛"]

  /// The words of a text as utterances, in order; what is not spoken belongs to none.
  ///
  /// Complexity: O(*n*) in the length of the text.
  static func all(of words: [String]) -> [Utterance] {
    var utterances: [Utterance] = []
    var open = Utterance()
    for (number, word) in words.enumerated() {
      let scalars = speakable(word)
      guard !scalars.isEmpty else { continue }
      var rest = scalars[...]
      while !rest.isEmpty {
        let part = rest.prefix(longest)
        rest = rest.dropFirst(longest)
        if open.length > 0, open.length + part.count > longest {
          utterances.append(open)
          open = Utterance()
        }
        open.add(part, of: number)
      }
      if open.ends(after: word) {
        utterances.append(open)
        open = Utterance()
      }
    }
    if !open.parts.isEmpty { utterances.append(open) }
    return utterances
  }

  private mutating func add(_ scalars: ArraySlice<Unicode.Scalar>, of word: Int) {
    if length > 0 {
      text.unicodeScalars.append(" ")
      length += 1
    }
    parts.append(Part(place: length, length: scalars.count, word: word))
    text.unicodeScalars.append(contentsOf: scalars)
    length += scalars.count
  }

  private func ends(after word: String) -> Bool {
    guard let sign = word.last(where: { !$0.isQuoteOrBracket }) else { return false }
    // A letter with a full stop is short for something.
    return Self.endings.contains(sign) && parts.count > 2 && word.count > 2
      || length >= Self.long && Self.pauses.contains(sign)
  }

  /// What of a word can be given to a synthesiser: without signs that control it and pictures that
  /// it would describe. Empty where nothing is left that is spoken.
  static func speakable(_ word: String) -> [Unicode.Scalar] {
    let kept = word.unicodeScalars.filter { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .otherSymbol, .modifierSymbol,
        .lineSeparator, .paragraphSeparator, .spaceSeparator:
        scalar == "°" || scalar == "©"
      default: true
      }
    }
    return kept.contains(where: isSpoken) ? Array(kept) : []
  }

  /// Letters, digits and the signs that have names.
  private static func isSpoken(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || scalar.properties.numericType != nil
      || scalar.properties.generalCategory == .currencySymbol
      || "%‰§&+=@°".unicodeScalars.contains(scalar)
  }
}

extension Character {
  fileprivate var isQuoteOrBracket: Bool {
    unicodeScalars.allSatisfy {
      switch $0.properties.generalCategory {
      case .initialPunctuation, .finalPunctuation, .openPunctuation, .closePunctuation: true
      default: $0 == "\"" || $0 == "'"
      }
    }
  }
}
