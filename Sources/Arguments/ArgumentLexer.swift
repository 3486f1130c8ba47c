/// Cuts the words of a command line into typed tokens, without knowing what any option means.
///
/// Only whoever knows the options can tell `-oDIR` (one option and its value) from `-abc` (three
/// flags). So a short token is one letter, and ``takeValue()`` claims whatever belongs to the
/// option just read.
struct ArgumentLexer {
  /// One step of a command line.
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

  /// The next token; nil at the end. A value that nobody took from a long option is dropped.
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

  /// The value of the option that was read last: attached to it, or the next word unless that
  /// looks like an option. Nil, with nothing taken, if there is none.
  mutating func takeValue() -> String? {
    if let attached {
      self.attached = nil
      return attached
    }
    if !cluster.isEmpty {
      defer { cluster = "" }
      return String(cluster.hasPrefix("=") ? cluster.dropFirst() : cluster)
    }
    guard let word = words.first, !looksLikeOption(word) else { return nil }
    return words.popFirst()
  }

  /// The whole word, without its dash, that the short token read last came from; the rest of it
  /// is passed over.
  mutating func abandonCluster() -> String {
    cluster = ""
    return clusterWord
  }

  // A lone dash is the customary name of standard input or output.
  private func looksLikeOption(_ word: String) -> Bool { word.hasPrefix("-") && word != "-" }
}
