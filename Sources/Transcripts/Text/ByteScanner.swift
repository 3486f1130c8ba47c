/// Reads the parts of a line: digits, times and signs.
struct ByteScanner {
  /// Where it stands.
  var position: Int
  private let bytes: ArraySlice<UInt8>

  /// The longest time that is believed, in seconds: a hundred thousand hours.
  static let longestTime = 360_000_000.0

  /// Starts before the first byte.
  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// The byte that comes next; nil at the end.
  var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }
  /// Whether nothing is left.
  var isAtEnd: Bool { position >= bytes.endIndex }
  /// What is left.
  var rest: ArraySlice<UInt8> { bytes[position...] }

  /// Passes over a text of ASCII that stands next.
  mutating func skip(_ text: String) -> Bool {
    let wanted = text.utf8
    guard rest.starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  /// Passes over spaces and tabs.
  mutating func skipSpace() { while next == 0x20 || next == 0x09 { position += 1 } }

  /// Takes what stands before a byte, and passes over that; nil where it does not come.
  mutating func take(upTo byte: UInt8) -> ArraySlice<UInt8>? {
    guard let end = rest.firstIndex(of: byte) else { return nil }
    defer { position = end + 1 }
    return bytes[position..<end]
  }

  /// Takes digits as a whole number and their count; nil where none stands here, or more than nine.
  mutating func digits() -> (value: Int, count: Int)? {
    let start = position
    var value = 0
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      guard position - start < 9 else { return nil }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
      position += 1
    }
    return position == start ? nil : (value, position - start)
  }

  /// Takes a decimal number, with a point or a comma and perhaps an exponent: no sign, no `nan`, no
  /// `inf`, and nothing that is too large for a time. Nil, and nothing taken, where none stands here.
  mutating func decimal() -> Double? {
    let start = position
    var text = ""
    func isDigit(_ byte: UInt8?) -> Bool { byte.map { (0x30...0x39).contains($0) } ?? false }
    while let byte = next {
      let previous = position > start ? bytes[position - 1] : nil
      let isPoint = byte == UInt8(ascii: ".") || byte == UInt8(ascii: ",")
      let isExponent = (byte | 0x20) == UInt8(ascii: "e") && isDigit(previous)
      let isSign =
        (byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+"))
        && previous.map { ($0 | 0x20) == UInt8(ascii: "e") } == true
      guard isDigit(byte) || isPoint || isExponent || isSign else { break }
      text.unicodeScalars.append(isPoint ? "." : Unicode.Scalar(byte))
      position += 1
    }
    guard isDigit(text.utf8.first) || text.utf8.first == UInt8(ascii: "."),
      let value = Double(text), value <= Self.longestTime
    else {
      position = start
      return nil
    }
    return value
  }

  /// Takes a time as clocks show it, in seconds: `1:02:03.456`, `2:03,4`, `02:03`; hours and minutes
  /// have as many digits as they need. Microseconds count, what is finer does not. Nil, and nothing
  /// taken, where none stands here.
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
    // Some write a colon before the milliseconds.
    if skip(".") || skip(",") || groups.count == 3 && skip(":") { micros = fraction() }
    let time = Double(seconds) + 1
    guard time <= Self.longestTime else {
      position = start
      return nil
    }
    return Double(seconds * 1_000_000 + micros) / 1_000_000
  }

  /// Takes the digits behind a point, as millionths.
  private mutating func fraction() -> Int {
    var micros = 0
    var unit = 100_000
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      micros += Int(byte - UInt8(ascii: "0")) * unit
      unit /= 10
      position += 1
    }
    return micros
  }
}
