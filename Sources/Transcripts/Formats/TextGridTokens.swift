import Platform

/// The significant tokens of a TextGrid in long or short form: quoted texts, flags and
/// free-standing numbers. Everything else is decoration, as are comments after an exclamation mark.
struct TextGridTokens {
  enum Token: Hashable {
    case text(String)
    case number(Double)
    /// A word in angle brackets.
    case flag(String)
  }

  private let source: SourceText
  private var position = 0
  // The start of the last token.
  private var start = 0

  init(_ source: SourceText) { self.source = source }

  private var bytes: [UInt8] { source.bytes }

  /// The next token; nil at the end.
  mutating func next() throws(SpoolError) -> Token? {
    while position < bytes.count {
      let byte = bytes[position]
      start = position
      if byte.isSpace {
        position += 1
      } else if byte == UInt8(ascii: "!") {
        skip { $0 != 0x0a && $0 != 0x0d }
      } else if byte == UInt8(ascii: "\"") {
        return .text(try quoted())
      } else {
        skip { !$0.isSpace && $0 != UInt8(ascii: "\"") }
        let word = bytes[start..<position]
        if byte == UInt8(ascii: "<"), word.last == UInt8(ascii: ">") {
          return .flag(String(decoding: word.dropFirst().dropLast(), as: UTF8.self))
        }
        if let number = try number(word) { return .number(number) }
      }
    }
    start = bytes.count
    return nil
  }

  /// The next token, which must be a number.
  mutating func number(_ meaning: String) throws(SpoolError) -> Double {
    guard case .number(let number)? = try next() else {
      throw error(expected: "a number, \(meaning)")
    }
    return number
  }

  /// The next token, which must be a text.
  mutating func text(_ meaning: String) throws(SpoolError) -> String {
    guard case .text(let text)? = try next() else {
      throw error(expected: "a text in quotes, \(meaning)")
    }
    return text
  }

  /// The next token, which must be a count: at most one per byte left.
  mutating func count(_ meaning: String) throws(SpoolError) -> Int {
    let number = try number(meaning)
    guard let count = Int(exactly: number), count >= 0, count <= bytes.count else {
      throw error(expected: "a whole number that the file has room for, \(meaning)")
    }
    return count
  }

  /// An error at the last token.
  func error(expected: String) -> SpoolError {
    let end = bytes[start...].firstIndex { $0 == 0x0a || $0 == 0x0d } ?? bytes.count
    let found =
      start == bytes.count
      ? "the end of the file" : "\"\(PrintableText.shown(bytes[start..<end]))\""
    return source.error(
      "found \(found), expected \(expected)", at: TextPlace(of: start, in: bytes))
  }

  private mutating func skip(while isSkipped: (UInt8) -> Bool) {
    while position < bytes.count, isSkipped(bytes[position]) { position += 1 }
  }

  private mutating func quoted() throws(SpoolError) -> String {
    var text: [UInt8] = []
    position += 1
    while position < bytes.count {
      let part = position
      skip { $0 != UInt8(ascii: "\"") }
      text += bytes[part..<position]
      position += 1
      guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
        guard position <= bytes.count else { break }
        return String(decoding: text, as: UTF8.self)
      }
      text.append(UInt8(ascii: "\""))
      position += 1
    }
    throw error(expected: "a closing quote")
  }

  /// The number in a word; nil for other words. A word that only begins as a number is an error,
  /// since Praat would read it as one.
  private func number(_ word: ArraySlice<UInt8>) throws(SpoolError) -> Double? {
    let digits = word.first == UInt8(ascii: "-") ? word.dropFirst() : word
    guard digits.first?.isDigit == true else { return nil }
    let isPlain = word.allSatisfy { (0x2b...0x39).contains($0) || ($0 | 0x20) == 0x65 }
    guard isPlain, let number = Double(String(decoding: word, as: UTF8.self)), number.isFinite
    else {
      throw error(expected: "a number")
    }
    return number
  }
}
