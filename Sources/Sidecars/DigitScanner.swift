/// Reads numbers of a known length out of a text, from its beginning on.
package struct DigitScanner {
  package private(set) var rest: ArraySlice<UInt8>

  package init(_ text: some StringProtocol) { rest = Array(text.utf8)[...] }

  /// Reads from a piece of another text.
  package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// Whether nothing is left.
  package var isAtEnd: Bool { rest.isEmpty }

  /// Whether a digit comes next.
  package var isAtDigit: Bool { rest.first.map(Self.isDigit) ?? false }

  /// Goes past one character if it comes next.
  package mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard let byte = rest.first, UInt32(byte) == character.value else { return false }
    rest.removeFirst()
    return true
  }

  /// The number that so many digits make; nil, and nothing is read, where there are fewer.
  package mutating func number(digits count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  /// The billionths that the digits behind a decimal point make; nil where there is none. Digits
  /// after the ninth are too small to count.
  package mutating func fraction() -> Int? {
    let digits = rest.prefix(while: Self.isDigit)
    guard !digits.isEmpty else { return nil }
    rest = rest.dropFirst(digits.count)
    let padded = Array(digits.prefix(9)) + Array(repeating: UInt8(ascii: "0"), count: 9)
    return padded.prefix(9).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  /// Whether a byte is a digit.
  package static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
