/// English units of measurement.
enum EnglishUnits {
  /// A unit's singular and plural.
  typealias Unit = (one: [String], many: [String])

  /// Words that scale a number; a currency follows them.
  static let magnitudes: Set<String> = ["hundred", "thousand", "million", "billion", "trillion"]

  /// Whether a word scales the number before it.
  static func isMagnitude(_ word: String) -> Bool {
    magnitudes.contains(EnglishSpelling.core(of: word).lowercased())
  }

  /// The units that a text after a number may mean, likeliest first; nil if none: `km/h`, `m²`,
  /// `K`, and `/day`.
  static func units(_ text: String) -> [Unit]? {
    if let units = capitals[text] { return units }
    let lower = text.lowercased()
    if let (one, period) = rates[lower] {
      let letters = WordSpelling.letterNames(lower)
      return rate(([one], [one + "s"]), per: [period]) + [(letters, letters)]
    }
    if let unit = names[lower] {
      // `5s` and `3g` may also be names.
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
    guard parts.count == 2, let period = period(parts[1]),
      let unit = parts[0].isEmpty ? ([], []) : names[String(parts[0])]
    else { return nil }
    return rate(unit, per: period)
  }

  /// A rate: `per hour` and `an hour`.
  static func rate(_ unit: Unit, per name: [String]) -> [Unit] {
    let article = ["hour", "ounce"].contains(name.first) ? "an" : "a"
    return ["per", article].map { (unit.one + [$0] + name, unit.many + [$0] + name) }
  }

  /// The denominator of a rate: `h`, `day`; nil if it is no unit.
  static func period(_ text: some StringProtocol) -> [String]? {
    names[text.lowercased()]?.one ?? periods[text.lowercased()].map { [$0] }
  }

  /// The scale of a letter or financial abbreviation: `k`, `M`, `bn`.
  static func magnitude(_ text: some StringProtocol) -> String? {
    switch text {
    case "k", "K": "thousand"
    case "m", "M", "mn", "mm", "MM": "million"
    case "b", "B", "bn", "Bn", "BN": "billion"
    case "t", "T", "tn": "trillion"
    default: nil
    }
  }

  /// Letters with another meaning as capitals.
  private static let capitals: [String: [Unit]] = [
    "K": [(["k"], ["k"]), (["thousand"], ["thousand"])],
    "M": [(["million"], ["million"]), (["m"], ["m"])],
    "B": [(["billion"], ["billion"]), (["b"], ["b"])], "G": [(["g"], ["g"])],
    "S": [(["s"], ["s"])], "L": [(["l"], ["l"]), (["liter"], ["liters"])],
  ]

  private static let rates = [
    "mph": ("mile", "hour"), "kph": ("kilometer", "hour"), "kmh": ("kilometer", "hour"),
    "bpm": ("beat", "minute"), "fps": ("frame", "second"), "rpm": ("revolution", "minute"),
  ]

  private static let periods = [
    "second": "second", "minute": "minute", "hour": "hour", "day": "day", "night": "night",
    "wk": "week", "week": "week", "mo": "month", "month": "month", "year": "year",
    "person": "person",
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
      "tsp": "teaspoon", "tbsp": "tablespoon", "usd": "dollar", "eur": "euro",
    ]
    for (text, name) in regular { units[text] = ([name], [name + "s"]) }
    return units
  }()
}
