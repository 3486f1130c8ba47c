extension EnglishSpelling {
  /// Text with one kind of apostrophe, minus and space, and without marks that nobody speaks.
  static func plain(_ text: String) -> String {
    var plain = ""
    for character in text {
      switch character {
      case "’", "ʼ", "‘", "`", "´", "ʹ": plain.append("'")
      case "–", "—", "‐", "‑", "−", "‒": plain.append("-")
      default: plain.append(character)
      }
    }
    return plain
  }

  /// What is left without punctuation at either end; signs of money and of units stay.
  static func core(of word: String) -> String {
    let kept: Set<Character> = ["$", "€", "£", "¥", "%", "°", "#"]
    func isSpoken(_ character: Character) -> Bool {
      character.isLetter || character.isNumber || kept.contains(character)
    }
    guard word.contains(where: { $0.isLetter || $0.isNumber }),
      let first = word.firstIndex(where: { isSpoken($0) || $0 == "'" && word.count > 1 }),
      let last = word.lastIndex(where: isSpoken), first <= last
    else { return "" }
    var core = word[first...last]
    // An apostrophe at the beginning belongs to the word ('tis) unless it is a quotation mark.
    if core.hasPrefix("'"), !["'tis", "'twas", "'em", "'cause", "'til"].contains(core.lowercased())
    {
      core = core.dropFirst()
    }
    let sign = word[..<core.startIndex].last
    let isSigned = sign.map { ["-", "+"].contains($0) } == true && core.first?.isNumber == true
    return (isSigned ? sign.map(String.init) ?? "" : "") + core
  }

  /// The letters of a word, each by its name.
  static func letters(_ word: String) -> [String] {
    word.lowercased().filter(\.isLetter).map { String($0) }
  }

  /// Whether it is written in capitals only.
  static func isCapitals(_ word: String) -> Bool {
    word.allSatisfy { $0.isUppercase && $0.isASCII }
  }

  /// Parts of letters and parts of digits: `mp`, `3`.
  static func lettersAndDigits(_ word: String) -> [String] {
    var parts: [String] = []
    for character in word where character.isLetter || character.isNumber || character == "'" {
      if let last = parts.last?.last, last.isNumber == character.isNumber {
        parts[parts.count - 1].append(character)
      } else {
        parts.append(String(character))
      }
    }
    return parts
  }

  /// The money that a word is a sum of.
  static func currency(of word: String) -> (one: String, many: String, hundredth: String)? {
    guard let sign = word.first(where: { $0.isCurrencySymbol }), word.contains(where: \.isNumber)
    else { return nil }
    return EnglishAbbreviations.currencies[sign]
  }

  /// Whether it makes the number before it larger.
  static func isMagnitude(_ word: String) -> Bool {
    EnglishAbbreviations.magnitudes.contains(core(of: word).lowercased())
  }
}
