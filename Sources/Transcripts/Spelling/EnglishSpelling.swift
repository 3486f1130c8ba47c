/// Converts English text to spoken words.
///
/// It covers numbers, money, times, abbreviations, signs, capitals, addresses and hyphens. A word
/// may have several spoken variants.
package struct EnglishSpelling: Sendable {
  package init() {}

  /// The spoken variants of each word, in order. A variant is a list of words in lower case; the
  /// likeliest comes first, and unspoken words have none.
  ///
  /// - Parameter words: the words as written, with adjacent punctuation.
  package func ways(of words: [String]) -> [[[String]]] {
    let capitals = CapitalWords(words)
    return words.indices.map { index in
      let before = index > 0 ? words[index - 1] : ""
      let after = index + 1 < words.count ? words[index + 1] : ""
      let written = ways(of: words[index], before: before, after: after)
      guard let lowered = capitals.lowered[index] else { return Self.unique(written) }
      let word = ways(of: lowered, before: before, after: after)
      return Self.unique(lowered.count > Self.longestSpelled ? word : word + written)
    }
  }

  /// The longest word in capitals that is spelled out, with its punctuation.
  private static let longestSpelled = 6

  /// Longer words, in bytes, are not read as numbers or addresses.
  private static let longest = 256

  /// The variants of a word between its neighbours.
  private func ways(of written: String, before: String, after: String) -> [[String]] {
    let word = Self.plain(written)
    if let ways = EnglishAbbreviations.shorthand(word) { return ways }
    let core = Self.core(of: word)
    guard !core.isEmpty else {
      return word.count == 1 ? word.first.flatMap { EnglishSigns.alone[$0] } ?? [] : []
    }
    let lower = core.lowercased()
    guard core.utf8.count <= Self.longest else {
      return lower.contains(where: \.isLetter)
        ? [[lower.filter(\.isLetter)]] : NumberSpelling.endless(core).map { [$0] } ?? []
    }
    if EnglishUnits.magnitudes.contains(lower), let money = MoneySpelling.currency(of: before) {
      return [[lower, money.many], [lower]]
    }
    if before.last?.isNumber == true, let units = EnglishUnits.units(core) {
      return units.map(\.many) + units.map(\.one)
        + (lower.allSatisfy(\.isLetter) ? [[lower]] : [])
    }
    if core.contains(where: { "/°²³".contains($0) }), let units = EnglishUnits.units(core) {
      return units.map(\.many) + units.map(\.one) + WordSpelling.ways(of: core).prefix(2)
    }
    if let ways = DateSpelling.day(core, in: word, before: before, after: after) { return ways }
    if let ways = EnglishAbbreviations.ways(of: lower, in: word, after: after) { return ways }
    let ways =
      NumberSpelling.ways(of: core, isScaled: EnglishUnits.isMagnitude(after))
      ?? WordSpelling.ways(of: core)
    // `.NET` is spoken with its dot, `...and` without.
    let isDotted = word.hasPrefix("." + core) && core.first?.isLetter == true
    return isDotted ? ways.map { ["dot"] + $0 } + ways : ways
  }

  /// Without empty variants and duplicates.
  static func unique(_ ways: [[String]]) -> [[String]] {
    var seen: Set<[String]> = []
    return ways.filter { !$0.isEmpty && seen.insert($0).inserted }
  }

  /// The variants of consecutive parts: the likeliest of each, then each with one part varied, at
  /// most eight.
  static func joined(_ parts: [[[String]]]) -> [[String]] {
    let parts = parts.filter { !$0.isEmpty }
    var ways = [parts.flatMap { $0[0] }]
    for (index, part) in parts.enumerated() {
      for other in part.dropFirst() {
        ways.append(
          parts[..<index].flatMap { $0[0] } + other + parts[(index + 1)...].flatMap { $0[0] })
      }
    }
    return Array(unique(ways).prefix(8))
  }
}

/// Spoken text, for a search independent of spelling.
extension EnglishSpelling {
  /// The likeliest spoken form of each word. Words of letters stay as written; unspoken words are
  /// empty.
  ///
  /// - Parameter words: the words as written, with adjacent punctuation.
  package func said(_ words: [String]) -> [String] {
    zip(words, ways(of: words)).map { word, ways in
      Self.isSaidAsWritten(word, ways) ? word : ways.first?.joined(separator: " ") ?? ""
    }
  }

  /// The spoken forms of a phrase, each with one text per word: the likeliest of each word as in
  /// ``said(_:)``, then each with one word varied, at most eight.
  package func readings(of words: [String]) -> [[String]] {
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

  /// Whether it is a word and no abbreviation: abbreviations, such as `BBC`, are searched for as
  /// written.
  private static func isSaidAsWritten(_ word: String, _ ways: [[String]]) -> Bool {
    let core = core(of: plain(word))
    guard !core.isEmpty, core.allSatisfy({ $0.isLetter || $0 == "'" }) else { return false }
    return ways.first == [core.lowercased()] || WordSpelling.isCapitals(core)
  }

  /// Text with uniform apostrophes and minus signs, and plain digits for superscripts and
  /// subscripts in names, `CO₂`.
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

  /// The word without punctuation at either end; spoken signs stay.
  static func core(of word: String) -> String {
    func isSpoken(_ character: Character) -> Bool {
      character.isLetter || character.isNumber || EnglishSigns.kept.contains(character)
    }
    guard word.contains(where: { $0.isLetter || $0.isNumber }),
      let first = word.firstIndex(where: { isSpoken($0) || $0 == "'" && word.count > 1 }),
      let last = word.lastIndex(where: isSpoken), first <= last
    else { return "" }
    var core = word[first...last]
    // An initial apostrophe belongs to the word ('tis) unless it is a quotation mark.
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

/// English abbreviations.
enum EnglishAbbreviations {
  /// The variants of an abbreviation; nil if it is none here.
  ///
  /// - Parameters:
  ///   - lower: the word in lower case, without surrounding punctuation.
  ///   - word: the word with it: some need a full stop.
  ///   - after: the next word: some need a number.
  static func ways(of lower: String, in word: String, after: String) -> [[String]]? {
    guard let ways = words[lower] else { return nil }
    let hasStop = word.contains(".")
    if beforeNumbers.contains(lower) {
      return hasStop && after.first?.isNumber == true ? ways : nil
    }
    return !withStop.contains(lower) || hasStop ? ways + (hasStop ? [] : [[lower]]) : nil
  }

  /// Abbreviations with a slash: `w/`, `w/o`.
  static func shorthand(_ word: String) -> [[String]]? {
    guard word.contains("/") else { return nil }
    return slashed[word.lowercased().filter { $0.isLetter || $0 == "/" }]
  }

  private static let slashed: [String: [[String]]] = [
    "w/": [["with"]], "w/o": [["without"], ["w", "o"]], "b/c": [["because"], ["b", "c"]],
    "c/o": [["care", "of"], ["c", "o"]], "w/in": [["within"]],
    "n/a": [["n", "a"], ["not", "applicable"]],
  ]

  /// Abbreviations only with a full stop.
  private static let withStop: Set<String> = [
    "co", "ed", "fig", "gen", "col", "rep", "rev", "sen", "hon", "mon", "wed", "dec", "mt", "st",
    "inc", "fri", "ave", "jun", "jul", "est", "ext", "sq", "mar", "mi",
  ]

  /// Abbreviations only with a full stop and before a number.
  private static let beforeNumbers: Set<String> = ["no", "p", "ch", "c", "ca"]

  /// Abbreviations with an optional full stop, in lower case without it.
  private static let words: [String: [[String]]] = [
    "mr": [["mister"]], "mrs": [["missus"], ["misses"]], "ms": [["miz"], ["miss"]],
    "dr": [["doctor"], ["drive"]], "prof": [["professor"]], "st": [["saint"], ["street"]],
    "no": [["number"], ["no"]], "nos": [["numbers"]], "vs": [["versus"]],
    "etc": [["et", "cetera"]], "p": [["page"], ["p"]], "ch": [["chapter"]],
    "jr": [["junior"]], "sr": [["senior"]], "inc": [["incorporated"], ["ink"]],
    "ltd": [["limited"]], "co": [["company"], ["co"]], "corp": [["corporation"]],
    "ave": [["avenue"]], "rd": [["road"]], "blvd": [["boulevard"]], "mt": [["mount"]],
    "ft": [["feet"], ["fort"]], "dept": [["department"]], "approx": [["approximately"]],
    "gen": [["general"]], "col": [["colonel"]], "sgt": [["sergeant"]], "capt": [["captain"]],
    "lt": [["lieutenant"]], "gov": [["governor"]], "sen": [["senator"]],
    "rep": [["representative"]], "est": [["established"], ["estimated"]],
    "ext": [["extension"]], "sq": [["square"]], "tel": [["telephone"], ["tel"]],
    "rev": [["reverend"]], "hon": [["honorable"]], "pp": [["pages"]], "vol": [["volume"]],
    "fig": [["figure"]], "ed": [["edition"], ["ed"]], "e.g": [["for", "example"], ["e", "g"]],
    "i.e": [["that", "is"], ["i", "e"]], "a.m": [["a", "m"]], "p.m": [["p", "m"]],
    "ph.d": [["p", "h", "d"]], "phd": [["p", "h", "d"]], "aka": [["a", "k", "a"]],
    "wwi": [["world", "war", "one"], ["w", "w", "one"]],
    "wwii": [["world", "war", "two"], ["w", "w", "two"]],
    "c": [["circa"], ["around"], ["about"], ["c"]], "ca": [["circa"], ["around"], ["about"]],
    "mi": [["mile"], ["miles"]], "tsp": [["teaspoon"], ["teaspoons"]],
    "tbsp": [["tablespoon"], ["tablespoons"]],
    "jan": [["january"]], "feb": [["february"]], "mar": [["march"]], "apr": [["april"]],
    "jun": [["june"]],
    "jul": [["july"]], "aug": [["august"]], "sept": [["september"]], "sep": [["september"]],
    "oct": [["october"]], "nov": [["november"]], "dec": [["december"]], "mon": [["monday"]],
    "tue": [["tuesday"]], "wed": [["wednesday"]], "thu": [["thursday"]], "fri": [["friday"]],
  ]
}

/// Decides which words in capitals are words and not spelled letters: all pronounceable ones if
/// most of the text is in capitals, or where two or more are neighbours, as in captions and
/// emphasis.
struct CapitalWords {
  /// By word index: the word in lower case, or nil if it may be spelled.
  let lowered: [String?]

  /// - Parameter words: the words as written, with adjacent punctuation.
  init(_ words: [String]) {
    let cores = words.map { EnglishSpelling.core(of: EnglishSpelling.plain($0)) }
    let isLong = cores.map { $0.count(where: \.isLetter) > 1 }
    let isLoud = cores.map { !$0.contains(where: \.isLowercase) }
    let loudCount = cores.indices.count { isLong[$0] && isLoud[$0] }
    let isAllLoud = loudCount > 1 && loudCount * 2 > isLong.count(where: \.self)
    var runs = Array(repeating: isAllLoud, count: words.count)
    var start = 0
    while start < words.count {
      // `I`, `A` and numbers neither begin nor end a stretch.
      let end = cores[start...].indices.first { !isLoud[$0] } ?? words.count
      if (start..<end).count(where: { isLong[$0] }) > 1 {
        for index in start..<end { runs[index] = true }
      }
      start = end + 1
    }
    lowered = words.indices.map { index in
      let before = index > 0 ? cores[index - 1].lowercased() : ""
      // The pronoun begins no sentence, and follows no article.
      let isCountry = cores[index] == "US" && (before.isEmpty || before == "the")
      guard runs[index], isLong[index], isLoud[index], !isCountry,
        cores[index].allSatisfy({ $0.isLetter || "'-".contains($0) })
      else { return nil }
      let word = EnglishSpelling.plain(words[index])
      let lowered = word.split(separator: "-", omittingEmptySubsequences: false)
        .map { Self.isPronounceable($0.lowercased()) ? $0.lowercased() : String($0) }
        .joined(separator: "-")
      return lowered == word ? nil : lowered
    }
  }

  /// Whether a lower-case word has a vowel, and consonant clusters that English words begin and end
  /// with. Exceptions are listed.
  static func isPronounceable(_ word: some StringProtocol) -> Bool {
    let letters = String(word.filter(\.isLetter))
    let head = String(letters.prefix { !vowels.contains($0) })
    let tail = String(letters.reversed().prefix { !vowels.contains($0) }.reversed())
    guard !spelled.contains(letters), head.count < letters.count,
      letters.contains(where: { $0 == "y" || !vowels.contains($0) })
    else { return false }
    return (head.count < 2 && head != "x" || heads.contains(head))
      && (tail.count < 2 && !["j", "q", "v"].contains(tail) || tails.contains(tail))
  }

  private static let vowels: Set<Character> = Set("aeiouy")

  private static let spelled: Set<String> = [
    "id", "usa", "uk", "un", "cia", "ceo", "ufo", "irs", "vip", "nyc", "nyu", "diy", "sos", "aol",
    "isp",
  ]

  /// Initial consonant clusters; any single one but X is possible.
  private static let heads = words(
    """
    bl br ch cl cr dr dw fl fr gh gl gn gr kh kn ph pl pr rh sc sh sk sl sm sn sp sq st sw th tr tw \
    wh wr chr phr sch scr shr spl spr str thr
    """)

  /// Final consonant clusters; any single one but J, Q and V is possible.
  private static let tails = words(
    """
    bs bt cs ch ck ct dd ds ff ft gg gh gn gs hn ks ld lf lk ll lm ln lp ls lt mb mm mn mp ms nd ng nk \
    nn ns nt ph ps pt rb rc rd rf rg rk rl rm rn rp rr rs rt sc sh sk sm sp ss st th ts tt tz wd wk wl \
    wn ws xt zz cks ght lls lps lth mps nch nds ngs nks nth nts rch rds rks rld rls rms rns rps rst rth \
    rts tch
    """)

  private static func words(_ list: String) -> Set<String> {
    Set(list.split(separator: " ").map(String.init))
  }
}
