/// What is measured and counted in, in English.
enum EnglishUnits {
  /// A unit's name for one and for many.
  typealias Unit = (one: [String], many: [String])

  /// Words that make a number larger, so that a currency is spoken after them.
  static let magnitudes: Set<String> = ["hundred", "thousand", "million", "billion", "trillion"]

  /// Whether a word makes the number before it larger.
  static func isMagnitude(_ word: String) -> Bool {
    magnitudes.contains(EnglishSpelling.core(of: word).lowercased())
  }

  /// The units that a text behind a number may be, the likeliest first; nil where it is none: `km/h`,
  /// `m²`, `K`.
  static func units(_ text: String) -> [Unit]? {
    if let units = capitals[text] { return units }
    let lower = text.lowercased()
    if let unit = names[lower] {
      // `5s` and `3g` may be names, too.
      let letters = WordSpelling.letterNames(lower)
      let isName = text.count == 1 && text.first?.isLetter == true
      return isName ? [unit, (letters, letters)] : [unit]
    }
    if let last = text.last, let power = ["²": "square", "³": "cubic"][last],
      let unit = names[String(lower.dropLast())]
    {
      return [([power] + unit.one, [power] + unit.many)]
    }
    let parts = lower.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let unit = names[String(parts[0])], let per = names[String(parts[1])]
    else { return nil }
    return [(unit.one + ["per"] + per.one, unit.many + ["per"] + per.one)]
  }

  /// What a single letter, or what bankers write, multiplies a number with: `k`, `M`, `bn`.
  static func magnitude(_ text: some StringProtocol) -> String? {
    switch text {
    case "k", "K": "thousand"
    case "m", "M", "mn", "mm", "MM": "million"
    case "b", "B", "bn", "Bn", "BN": "billion"
    case "t", "T", "tn": "trillion"
    default: nil
    }
  }

  /// Letters that mean something else as capitals.
  private static let capitals: [String: [Unit]] = [
    "K": [(["k"], ["k"]), (["thousand"], ["thousand"])],
    "M": [(["million"], ["million"]), (["m"], ["m"])],
    "B": [(["billion"], ["billion"]), (["b"], ["b"])], "G": [(["g"], ["g"])],
    "S": [(["s"], ["s"])], "L": [(["l"], ["l"]), (["liter"], ["liters"])],
  ]

  private static let names: [String: Unit] = {
    var units: [String: Unit] = [
      "%": (["percent"], ["percent"]), "¢": (["cent"], ["cents"]),
      "hz": (["hertz"], ["hertz"]), "khz": (["kilohertz"], ["kilohertz"]),
      "mhz": (["megahertz"], ["megahertz"]), "ghz": (["gigahertz"], ["gigahertz"]),
      "°c": (["degree", "celsius"], ["degrees", "celsius"]),
      "°f": (["degree", "fahrenheit"], ["degrees", "fahrenheit"]), "°": (["degree"], ["degrees"]),
      "am": (["a", "m"], ["a", "m"]), "pm": (["p", "m"], ["p", "m"]),
      "a.m": (["a", "m"], ["a", "m"]), "p.m": (["p", "m"], ["p", "m"]),
      "k": (["thousand"], ["thousand"]), "bn": (["billion"], ["billion"]),
      "mn": (["million"], ["million"]), "ft": (["foot"], ["feet"]),
      "mph": (["mile", "per", "hour"], ["miles", "per", "hour"]),
      "kph": (["kilometer", "per", "hour"], ["kilometers", "per", "hour"]),
      "bpm": (["beat", "per", "minute"], ["beats", "per", "minute"]),
      "fps": (["frame", "per", "second"], ["frames", "per", "second"]),
      "kwh": (["kilowatt", "hour"], ["kilowatt", "hours"]),
    ]
    let regular = [
      "km": "kilometer", "m": "meter", "cm": "centimeter", "mm": "millimeter", "nm": "nanometer",
      "kg": "kilogram", "g": "gram", "mg": "milligram", "lb": "pound", "lbs": "pound",
      "oz": "ounce", "mi": "mile", "yd": "yard", "l": "liter", "ml": "milliliter", "gal": "gallon",
      "db": "decibel", "kb": "kilobyte", "mb": "megabyte", "gb": "gigabyte", "tb": "terabyte",
      "ms": "millisecond", "s": "second", "sec": "second", "secs": "second", "h": "hour",
      "hr": "hour", "hrs": "hour", "min": "minute", "mins": "minute", "yr": "year", "yrs": "year",
      "w": "watt", "kw": "kilowatt", "mw": "megawatt", "v": "volt", "kcal": "kilocalorie",
      "usd": "dollar", "eur": "euro",
    ]
    for (text, name) in regular { units[text] = ([name], [name + "s"]) }
    return units
  }()
}
