/// The spoken names of signs in English.
enum EnglishSigns {
  /// Signs on their own.
  static let alone: [Character: [[String]]] = [
    "&": [["and"]], "+": [["plus"], ["and"]], "=": [["equals"]], "@": [["at"]],
    "#": [["number"], ["hash"]], "%": [["percent"]], "×": [["times"], ["by"]],
    "÷": [["divided", "by"]], "<": [["less", "than"]], ">": [["greater", "than"]],
    "°": [["degrees"]], "$": [["dollars"]], "€": [["euros"]], "£": [["pounds"]],
    "~": [["about"]], "§": [["section"]], "½": [["one", "half"], ["a", "half"], ["half"]],
    "≈": [["about"], ["approximately"]], "≠": [["does", "not", "equal"], ["not", "equal", "to"]],
    "≤": [["less", "than", "or", "equal", "to"]], "∞": [["infinity"]],
    "≥": [["greater", "than", "or", "equal", "to"]], "±": [["plus", "or", "minus"]],
    "№": [["number"]], "→": [["to"]], "π": [["pi"]], "¢": [["cents"]],
  ]

  /// Before a number.
  static let beforeNumbers: [Character: [[String]]] = [
    "-": [["minus"], ["negative"]], "+": [["plus"]], "#": [["number"]],
    "±": [["plus", "or", "minus"]], "~": [["about"], ["around"]], "≈": [["about"]],
    "<": [["less", "than"], ["under"]], ">": [["more", "than"], ["greater", "than"], ["over"]],
    "≤": [["at", "most"], ["less", "than", "or", "equal", "to"]],
    "≥": [["at", "least"], ["greater", "than", "or", "equal", "to"]],
    "§": [["section"]], "№": [["number"]], "×": [["times"]], "@": [["at"]],
  ]

  /// Between the parts of a word.
  static let within: [Character: [[String]]] = [
    "&": [["and"]], "@": [["at"]], "=": [["equals"], ["is"]], "+": [["plus"], ["and"]],
    "×": [["times"], ["by"]], "÷": [["divided", "by"]], "<": [["less", "than"]],
    ">": [["greater", "than"]],
  ]

  /// Between the parts of an address.
  static let inAddresses: [Character: [[String]]] = [
    ".": [["dot"]], "@": [["at"]], "/": [["slash"]], ":": [["colon"]], "-": [["dash"]],
    "_": [["underscore"]], "?": [["question", "mark"]], "=": [["equals"]], "&": [["and"]],
    "#": [["hash"]], "~": [["tilde"]], "+": [["plus"]], "%": [["percent"]],
  ]

  /// After a letter: notes and grades.
  static let behindLetters: [Character: [String]] = [
    "#": ["sharp"], "♯": ["sharp"], "♭": ["flat"],
  ]

  /// Signs that belong to a word at its start or end.
  static let kept: Set<Character> = [
    "$", "€", "£", "¥", "¢", "₹", "₽", "₩", "₿", "%", "°", "#", "♯", "♭", "+", "@",
  ]
}
