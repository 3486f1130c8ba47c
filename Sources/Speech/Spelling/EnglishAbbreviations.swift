/// What is written short and spoken long, in English.
enum EnglishAbbreviations {
  /// Short forms that a full stop may follow, in lower case without it.
  static let words: [String: [[String]]] = [
    "mr": [["mister"]], "mrs": [["missus"], ["misses"]], "ms": [["miz"], ["miss"]],
    "dr": [["doctor"], ["drive"]], "prof": [["professor"]], "st": [["saint"], ["street"]],
    "no": [["number"], ["no"]], "nos": [["numbers"]], "vs": [["versus"]],
    "etc": [["et", "cetera"]],
    "jr": [["junior"]], "sr": [["senior"]], "inc": [["incorporated"], ["ink"]],
    "ltd": [["limited"]], "co": [["company"], ["co"]], "corp": [["corporation"]],
    "ave": [["avenue"]], "rd": [["road"]], "blvd": [["boulevard"]], "mt": [["mount"]],
    "ft": [["feet"], ["fort"]], "dept": [["department"]], "approx": [["approximately"]],
    "gen": [["general"]], "col": [["colonel"]], "sgt": [["sergeant"]], "capt": [["captain"]],
    "lt": [["lieutenant"]], "gov": [["governor"]], "sen": [["senator"]],
    "rep": [["representative"]],
    "rev": [["reverend"]], "hon": [["honorable"]], "pp": [["pages"]], "vol": [["volume"]],
    "fig": [["figure"]], "ed": [["edition"], ["ed"]], "e.g": [["for", "example"], ["e", "g"]],
    "i.e": [["that", "is"], ["i", "e"]], "a.m": [["a", "m"]], "p.m": [["p", "m"]],
    "jan": [["january"]], "feb": [["february"]], "apr": [["april"]], "aug": [["august"]],
    "sept": [["september"]], "sep": [["september"]], "oct": [["october"]], "nov": [["november"]],
    "dec": [["december"]], "mon": [["monday"]], "tue": [["tuesday"]], "wed": [["wednesday"]],
    "thu": [["thursday"]], "fri": [["friday"]],
  ]

  /// Units that follow a number, in the plural; the singular where the number is one.
  static let units: [String: (one: [String], many: [String])] = [
    "%": (["percent"], ["percent"]), "km": (["kilometer"], ["kilometers"]),
    "m": (["meter"], ["meters"]), "cm": (["centimeter"], ["centimeters"]),
    "mm": (["millimeter"], ["millimeters"]), "kg": (["kilogram"], ["kilograms"]),
    "g": (["gram"], ["grams"]), "mg": (["milligram"], ["milligrams"]),
    "lb": (["pound"], ["pounds"]), "lbs": (["pound"], ["pounds"]), "oz": (["ounce"], ["ounces"]),
    "mph": (["mile", "per", "hour"], ["miles", "per", "hour"]),
    "km/h": (["kilometer", "per", "hour"], ["kilometers", "per", "hour"]),
    "hz": (["hertz"], ["hertz"]), "khz": (["kilohertz"], ["kilohertz"]),
    "mhz": (["megahertz"], ["megahertz"]), "db": (["decibel"], ["decibels"]),
    "°c": (["degree", "celsius"], ["degrees", "celsius"]),
    "°f": (["degree", "fahrenheit"], ["degrees", "fahrenheit"]), "°": (["degree"], ["degrees"]),
    "kb": (["kilobyte"], ["kilobytes"]), "mb": (["megabyte"], ["megabytes"]),
    "gb": (["gigabyte"], ["gigabytes"]), "tb": (["terabyte"], ["terabytes"]),
    "ms": (["millisecond"], ["milliseconds"]), "s": (["second"], ["seconds"]),
    "h": (["hour"], ["hours"]), "min": (["minute"], ["minutes"]), "am": (["a", "m"], ["a", "m"]),
    "pm": (["p", "m"], ["p", "m"]), "k": (["thousand"], ["thousand"]),
  ]

  /// Signs that are spoken where they stand alone.
  static let signs: [Character: [[String]]] = [
    "&": [["and"]], "+": [["plus"], ["and"]], "=": [["equals"]], "@": [["at"]],
    "#": [["number"], ["hash"]], "%": [["percent"]], "×": [["times"]], "÷": [["divided", "by"]],
    "<": [["less", "than"]], ">": [["greater", "than"]], "°": [["degrees"]], "$": [["dollars"]],
    "€": [["euros"]], "£": [["pounds"]], "~": [["about"]], "§": [["section"]],
  ]

  /// Money: its name for one and for many, and its hundredth.
  static let currencies: [Character: (one: String, many: String, hundredth: String)] = [
    "$": ("dollar", "dollars", "cents"), "€": ("euro", "euros", "cents"),
    "£": ("pound", "pounds", "pence"), "¥": ("yen", "yen", "sen"),
  ]

  /// Words that make a number larger, so that a currency is spoken after them.
  static let magnitudes: Set<String> = ["hundred", "thousand", "million", "billion", "trillion"]
}
