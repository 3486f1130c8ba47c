/// What is written short and spoken long, in English.
enum EnglishAbbreviations {
  /// The ways of a short form; nil where it is none, or stands for itself here.
  ///
  /// - Parameters:
  ///   - lower: the word in small letters, without the punctuation around it.
  ///   - word: the word with it: some are short only with a full stop.
  ///   - after: the next word: some are short only before a number.
  static func ways(of lower: String, in word: String, after: String) -> [[String]]? {
    guard let ways = words[lower] else { return nil }
    let hasStop = word.contains(".")
    if beforeNumbers.contains(lower) {
      return hasStop && after.first?.isNumber == true ? ways : nil
    }
    return !withStop.contains(lower) || hasStop ? ways + (hasStop ? [] : [[lower]]) : nil
  }

  /// What is written with a slash, punctuation around it or not: `w/`, `w/o`.
  static func shorthand(_ word: String) -> [[String]]? {
    guard word.contains("/") else { return nil }
    return slashed[word.lowercased().filter { $0.isLetter || $0 == "/" }]
  }

  private static let slashed: [String: [[String]]] = [
    "w/": [["with"]], "w/o": [["without"], ["w", "o"]], "b/c": [["because"], ["b", "c"]],
    "c/o": [["care", "of"], ["c", "o"]], "w/in": [["within"]],
    "n/a": [["n", "a"], ["not", "applicable"]],
  ]

  /// Short only with a full stop.
  private static let withStop: Set<String> = [
    "co", "ed", "fig", "gen", "col", "rep", "rev", "sen", "hon", "mon", "wed", "dec", "mt", "st",
    "inc", "fri", "ave", "jun", "jul", "est", "ext", "sq", "mar", "mi",
  ]

  /// Short only with a full stop and before a number.
  private static let beforeNumbers: Set<String> = ["no", "p", "ch", "c", "ca"]

  /// Short forms that a full stop may follow, in lower case without it.
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
