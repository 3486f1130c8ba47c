/// A scanner for digits, times and signs in a line.
struct ByteScanner {
  /// The next byte's index.
  var position: Int
  private let bytes: ArraySlice<UInt8>

  /// The greatest accepted time, in seconds: a hundred thousand hours.
  static let longestTime = 360_000_000.0

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// The next byte; nil at the end.
  var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }
  var isAtEnd: Bool { position >= bytes.endIndex }
  var rest: ArraySlice<UInt8> { bytes[position...] }

  /// Skips an ASCII text, if it comes next.
  mutating func skip(_ text: String) -> Bool {
    let wanted = text.utf8
    guard rest.starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  /// Passes over spaces and tabs.
  mutating func skipSpace() { while next == 0x20 || next == 0x09 { position += 1 } }

  /// Takes the bytes before a byte, and skips that; nil if it does not occur.
  mutating func take(upTo byte: UInt8) -> ArraySlice<UInt8>? {
    guard let end = rest.firstIndex(of: byte) else { return nil }
    defer { position = end + 1 }
    return bytes[position..<end]
  }

  /// Takes digits as an integer with their count; nil if there are none, or more than nine.
  mutating func digits() -> (value: Int, count: Int)? {
    let start = position
    var value = 0
    while let byte = next, byte.isDigit {
      guard position - start < 9 else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
      position += 1
    }
    return position == start ? nil : (value, position - start)
  }

  /// Takes a decimal number with a point or a comma and an optional exponent: no sign, `nan`, `inf`
  /// or number too large for a time. Takes nothing and returns nil otherwise.
  mutating func decimal() -> Double? {
    let start = position
    var text = ""
    while let byte = next {
      let previous = position > start ? bytes[position - 1] : nil
      let isPoint = byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",")
      let isExponent = (byte | 0x20) == UInt8(ascii: "e") && previous?.isDigit == true
      let isSign =
        (byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+"))
        && previous.map { ($0 | 0x20) == UInt8(ascii: "e") } == true
      guard byte.isDigit || isPoint || isExponent || isSign else { break }
      text.unicodeScalars.append(isPoint ? "." : Unicode.Scalar(byte))
      position += 1
    }
    guard let first = text.utf8.first, first.isDigit || first == UInt8(ascii: "."),
      let value = Double(text), value <= Self.longestTime
    else {
      position = start
      return nil
    }
    return value
  }

  /// Takes a clock time, in seconds: `1:02:03.456`, `2:03,4`, `02:03`, with any number of digits
  /// for hours and minutes, in microsecond precision. Takes nothing and returns nil otherwise.
  mutating func clock() -> Double? {
    let start = position
    guard let first = digits(), skip(":"), let second = digits() else {
      position = start
      return nil
    }
    var groups = [first.value, second.value]
    while groups.count < 3, skip(":") {
      guard let group = digits() else {
        position = start
        return nil
      }
      groups.append(group.value)
    }
    let seconds = groups.reduce(0) { $0 * 60 + $1 }
    var micros = 0
    // Some programs write a colon before the milliseconds.
    if skip(".") || skip(",") || groups.count == 3 && skip(":") { micros = fraction() }
    let time = Double(seconds) + 1
    guard time <= Self.longestTime else {
      position = start
      return nil
    }
    return Double(seconds * 1_000_000 + micros) / 1_000_000
  }

  /// Takes decimals, as millionths.
  private mutating func fraction() -> Int {
    var micros = 0
    var unit = 100_000
    while let byte = next, byte.isDigit {
      micros += Int(byte - UInt8(ascii: "0")) * unit
      unit /= 10
      position += 1
    }
    return micros
  }
}

extension UInt8 {
  /// Whether it is an ASCII digit.
  var isDigit: Bool { (0x30...0x39).contains(self) }

  /// Whether it is ASCII white space.
  var isSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
}

/// Finds a character repeatedly for increasing start positions; all searches together are one pass
/// through the text.
struct SignFinder {
  private let sign: Unicode.Scalar
  private var found = -1

  init(_ sign: Unicode.Scalar) { self.sign = sign }

  /// The first occurrence at or after `start`; nil if there is none.
  mutating func place(in text: [Unicode.Scalar], from start: Int) -> Int? {
    if found < start {
      found = start
      while found < text.count, text[found] != sign { found += 1 }
    }
    return found < text.count ? found : nil
  }
}
