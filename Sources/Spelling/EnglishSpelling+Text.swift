extension EnglishSpelling {
  /// Text with one kind of apostrophe and minus, and small raised or lowered digits as usual ones where
  /// they are part of a name, `CO₂`.
  static func plain(_ text: String) -> String {
    var plain = ""
    for character in text {
      switch character {
      case "’", "ʼ", "‘", "`", "´", "ʹ", "′": plain.append("'")
      case "″": plain.append("\"")
      case "–", "—", "‐", "‑", "−", "‒": plain.append("-")
      case "₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉":
        plain += character.wholeNumberValue.map(String.init) ?? ""
      case "¹", "⁰", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹": continue  // Notes at the foot of a page.
      default: plain.append(character)
      }
    }
    return plain
  }

  /// What is left without punctuation at either end; signs that are spoken there stay.
  static func core(of word: String) -> String {
    func isSpoken(_ character: Character) -> Bool {
      character.isLetter || character.isNumber || EnglishSigns.kept.contains(character)
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
    let isSigned =
      sign.map(EnglishSigns.beforeNumbers.keys.contains) == true
      && (core.first?.isNumber == true || core.first?.isCurrencySymbol == true)
    return (isSigned ? sign.map(String.init) ?? "" : "") + core
  }
}
