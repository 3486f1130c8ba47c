internal import Platform

/// Reads values from the front of a byte slice; nil if too few bytes are left. Integers are
/// unsigned and little-endian.
struct ByteReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func bytes(_ count: Int) -> [UInt8]? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func digest() -> Digest? { bytes(32).flatMap { Digest(bytes: $0) } }

  mutating func word() -> UInt64? { bytes(8).map { UInt64(bigEndianBytes: $0.reversed()) } }

  /// A number that fits `Int`.
  mutating func integer(byteCount: Int = 8) -> Int? {
    bytes(byteCount).flatMap { Int(exactly: UInt64(bigEndianBytes: $0.reversed())) }
  }
}

extension FixedWidthInteger {
  /// The number with these bytes, which are at most as many as it has.
  init(bigEndianBytes bytes: some Sequence<UInt8>) {
    self = bytes.reduce(0) { $0 << 8 | Self(truncatingIfNeeded: $1) }
  }

  /// The low bytes, big-endian.
  func bigEndianBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: self >> (8 * (count - 1 - $0))) }
  }
}

extension [UInt8] {
  /// Appends the low bytes of a non-negative number, little-endian.
  mutating func append(_ value: Int, byteCount: Int = 8) {
    for index in 0..<byteCount { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
  }

  /// Appends eight bytes, little-endian.
  mutating func append(_ word: UInt64) {
    for index in 0..<8 { append(UInt8(truncatingIfNeeded: word >> (8 * index))) }
  }
}
