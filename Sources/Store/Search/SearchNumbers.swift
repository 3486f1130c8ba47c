/// Numbers as text, five bits to a character and the least first: what is small takes little room, and
/// any SQLite can hold and copy it.
struct SearchNumbers {
  private var bytes: [UInt8] = []

  /// The characters begin here; 64 of them follow each other in ASCII.
  private static let first = UInt8(ascii: "0")
  /// Set in all characters of a number but its last.
  private static let more: UInt8 = 32

  /// Adds a number that is not negative.
  mutating func append(_ number: Int) {
    var rest = UInt(max(0, number))
    while rest > 31 {
      bytes.append(Self.first + UInt8(rest & 31) + Self.more)
      rest >>= 5
    }
    bytes.append(Self.first + UInt8(rest))
  }

  /// Adds a number that may be negative: its sign is its lowest bit.
  mutating func append(signed number: Int) { append(number < 0 ? -2 * number - 1 : 2 * number) }

  /// All of them as text.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Reads them again, one after the other.
  struct Reader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// The next number; nil behind the last one, and where the text is damaged.
    mutating func next() -> Int? {
      var (number, shift) = (0, 0)
      while position < bytes.count, shift < 60 {
        let bits = Int(bytes[position]) - Int(SearchNumbers.first)
        position += 1
        guard (0..<64).contains(bits) else { return nil }
        number |= (bits & 31) << shift
        if bits < Int(SearchNumbers.more) { return number }
        shift += 5
      }
      return nil
    }

    /// The next number, which may be negative.
    mutating func nextSigned() -> Int? {
      next().map { $0 & 1 == 1 ? -($0 + 1) / 2 : $0 / 2 }
    }
  }
}
