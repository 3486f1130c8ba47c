/// An address or a file's name, whose dots are spoken: `www.example.com`, `a@b.org`, `192.168.0.1`,
/// `v2.0`.
struct AddressSpelling {
  /// A part of a word, or a sign between two parts.
  enum Piece: Hashable {
    case part(String)
    case sign(Character)
  }

  /// The ways, the likeliest first; nil where the word is none.
  let ways: [[String]]?

  /// Reads a word without the punctuation around it.
  init(_ core: String) { ways = Self.version(core) ?? Self.numbers(core) ?? Self.names(core) }

  /// Parts and the signs between them, as they follow each other.
  static func pieces(of word: String, isSign: (Character) -> Bool) -> [Piece] {
    var pieces: [Piece] = []
    for character in word {
      if isSign(character) {
        if !pieces.isEmpty { pieces.append(.sign(character)) }
      } else if case .part(let text)? = pieces.last {
        pieces[pieces.count - 1] = .part(text + String(character))
      } else {
        pieces.append(.part(String(character)))
      }
    }
    while case .sign? = pieces.last { pieces.removeLast() }
    return pieces
  }

  /// `v2.0`.
  private static func version(_ core: String) -> [[String]]? {
    guard let first = core.first, first == "v" || first == "V", core.count > 1,
      core.dropFirst().allSatisfy({ $0.isNumber || $0 == "." }), core.dropFirst().first != "."
    else { return nil }
    let number = WordSpelling.part(core.dropFirst())
    let withO = number.map { $0.map { $0 == "zero" ? "oh" : $0 } }
    let names = core.contains(".") ? ["version", "v"] : ["v", "version"]
    return EnglishSpelling.unique((number + withO).flatMap { way in names.map { [$0] + way } })
  }

  /// `192.168.0.1`, `1.2.3`, `10.0.0.1:8080`.
  private static func numbers(_ core: String) -> [[String]]? {
    let halves = core.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    if halves.count == 2, let address = numbers(halves[0]),
      !halves[1].contains(where: \.isPunctuation),
      let port = EnglishNumbers.pairs(halves[1])
        ?? NumberSpelling(halves[1], isScaled: false).ways?.first
    {
      let usual = EnglishSpelling.unique(address).prefix(2)
      return [["colon"], ["port"], []].flatMap { sign in usual.map { $0 + sign + port } }
    }
    let groups = core.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard groups.count > 2, groups.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isNumber) })
    else { return nil }
    let forms: [(String) -> [String]] = [
      { EnglishNumbers.pairs($0) ?? NumberSpelling($0, isScaled: false).ways?.first ?? [] },
      { NumberSpelling($0, isScaled: false).ways?.first ?? [] }, { EnglishNumbers.digits($0) },
    ]
    return forms.flatMap { form in
      ["dot", "point"].map { Array(groups.map(form).joined(separator: [$0])) }
    }
  }

  /// `www.example.com/news`, `anna@example.com`.
  private static func names(_ core: String) -> [[String]]? {
    guard isAddress(core) else { return nil }
    var whole = core[...]
    for scheme in ["https://", "http://"] where core.lowercased().hasPrefix(scheme) {
      whole = core.dropFirst(scheme.count)
    }
    let pieces = pieces(of: String(whole)) { !$0.isLetter && !$0.isNumber && $0 != "'" }
    let spoken = pieces.map { piece -> [String] in
      switch piece {
      case .part(let text): name(text)
      case .sign(let sign): EnglishSigns.inAddresses[sign]?.first ?? []
      }
    }
    let silent = pieces.map { piece -> [String] in
      if case .part(let text) = piece { name(text) } else { [] }
    }
    var ways = [spoken.flatMap(\.self), silent.flatMap(\.self)]
    if whole.count < core.count {
      let scheme = WordSpelling.letterNames(core.prefix { $0 != ":" })
      ways.insert(scheme + ["colon", "slash", "slash"] + ways[0], at: 1)
    }
    return ways
  }

  private static func name(_ text: String) -> [String] {
    let isLetters = text.allSatisfy(\.isLetter)
    return isLetters && text.count > 1 && WordSpelling.isSpelled(text) && !isWord(text)
      ? WordSpelling.letterNames(text) : WordSpelling.part(text).first ?? []
  }

  /// Two letters that are a word, also in an address.
  private static func isWord(_ text: String) -> Bool {
    ["me", "my", "us", "we", "go", "in", "on", "to", "at", "of", "is", "it", "be", "no", "so"]
      .contains(text.lowercased())
  }

  /// Whether dots part names in it: no number, no letters with full stops.
  private static func isAddress(_ core: String) -> Bool {
    if core.contains("@"), !core.hasPrefix("@") { return true }
    guard core.contains(".") else { return core.contains("://") }
    let parts = core.split(separator: ".")
    guard parts.count > 1, parts.contains(where: { $0.contains(where: \.isLetter) }) else {
      return false
    }
    return !core.contains("-") && !parts.allSatisfy { $0.count == 1 && $0.first?.isLetter == true }
      || core.contains("/")
  }
}
