/// Which words of a text are in capitals though they are words, not letters that are spelled: all that
/// can be pronounced where most of the text is in capitals, or where two or more such words are
/// neighbours, as in captions and where something is emphasised.
struct CapitalWords {
  /// By the number of the word: the same in small letters; nil where it may be spelled as ever.
  let lowered: [String?]

  /// - Parameter words: the words as they are written, with the punctuation that touches them.
  init(_ words: [String]) {
    let cores = words.map { EnglishSpelling.core(of: EnglishSpelling.plain($0)) }
    let isLong = cores.map { $0.count(where: \.isLetter) > 1 }
    let isLoud = cores.map { !$0.contains(where: \.isLowercase) }
    let loudCount = cores.indices.count { isLong[$0] && isLoud[$0] }
    let isAllLoud = loudCount > 1 && loudCount * 2 > isLong.count(where: \.self)
    var runs = Array(repeating: isAllLoud, count: words.count)
    var start = 0
    while start < words.count {
      // `I`, `A` and numbers neither begin a stretch nor end one.
      let end = cores[start...].indices.first { !isLoud[$0] } ?? words.count
      if (start..<end).count(where: { isLong[$0] }) > 1 {
        for index in start..<end { runs[index] = true }
      }
      start = end + 1
    }
    lowered = words.indices.map { index in
      let before = index > 0 ? cores[index - 1].lowercased() : ""
      // No sentence begins with the pronoun, and no article stands before it.
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

  /// Whether a word in small letters has a vowel, and around its vowels only what English words begin and
  /// end with. What people spell though it has is known by name.
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

  /// Consonants that a word begins with; any single one but X does.
  private static let heads = words(
    """
    bl br ch cl cr dr dw fl fr gh gl gn gr kh kn ph pl pr rh sc sh sk sl sm sn sp sq st sw th tr tw \
    wh wr chr phr sch scr shr spl spr str thr
    """)

  /// Consonants that a word ends with; any single one but J, Q and V does.
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
