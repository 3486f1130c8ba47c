/// Splits a command line into tokens, without knowing the options.
///
/// Only the option's declaration distinguishes `-oDIR` (one option and its value) from `-abc`
/// (three flags). So a short token is one letter, and ``takeValue()`` claims the rest for the
/// option just read.
struct ArgumentLexer {
  enum Token: Hashable {
    /// `--name`, or `--name=attached`.
    case long(String, attached: String?)
    /// One letter behind a single dash.
    case short(Character)
    /// Anything else, and everything behind `--`.
    case value(String)
  }

  private var words: ArraySlice<String>
  private var cluster: Substring = ""
  private var clusterWord = ""
  private var attached: String?
  private var hasOptionsEnded = false

  init(_ words: [String]) { self.words = words[...] }

  /// The next token; nil at the end. Drops a long option's value that was not taken.
  mutating func next() -> Token? {
    attached = nil
    if let letter = cluster.popFirst() { return .short(letter) }
    guard let word = words.popFirst() else { return nil }
    if hasOptionsEnded || !looksLikeOption(word) { return .value(word) }
    if word == "--" {
      hasOptionsEnded = true
      return next()
    }
    guard word.hasPrefix("--") else {
      cluster = word.dropFirst()
      clusterWord = String(cluster)
      return next()
    }
    let bytes = word.utf8.dropFirst(2)
    let equals = bytes.firstIndex(of: UInt8(ascii: "="))
    attached = equals.map { String(word[bytes.index(after: $0)...]) }
    return .long(String(word[bytes.startIndex..<(equals ?? bytes.endIndex)]), attached: attached)
  }

  /// The next word if it is no option; it stays the next one.
  var word: String? {
    words.first.flatMap { hasOptionsEnded || !looksLikeOption($0) ? $0 : nil }
  }

  /// Whether the next word asks for help.
  var asksForHelp: Bool { words.first.map(OptionDeclaration.help.spellings.contains) ?? false }

  /// Whether the next word is a number with a dash, which can only be a value.
  var isBeforeNegativeNumber: Bool { words.first.map(looksLikeNumber) ?? false }

  /// The value of the last option: attached to it, or the next word unless that looks like an
  /// option; a negative number does not. Nil, with nothing taken, if there is none.
  mutating func takeValue() -> String? {
    if let attached {
      self.attached = nil
      return attached
    }
    if !cluster.isEmpty {
      defer { cluster = "" }
      return String(cluster.hasPrefix("=") ? cluster.dropFirst() : cluster)
    }
    guard let word = words.first, !looksLikeOption(word) || looksLikeNumber(word) else {
      return nil
    }
    return words.popFirst()
  }

  /// The whole word of the last short token, without its dash; skips the rest of it.
  mutating func abandonCluster() -> String {
    cluster = ""
    return clusterWord
  }

  // A lone dash is the customary name of standard input or output.
  private func looksLikeOption(_ word: String) -> Bool { word.hasPrefix("-") && word != "-" }

  // No option is a digit, so `-t -16` can only be meant one way.
  private func looksLikeNumber(_ word: String) -> Bool {
    let digits = word.dropFirst().drop { $0 == "." }
    return word.hasPrefix("-") && digits.first.map { $0.isASCII && $0.isNumber } == true
  }
}
