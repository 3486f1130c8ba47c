/// The name of a file or folder as the file system has it: bytes, which need not be text.
public struct FileName: Hashable, Sendable {
  /// Its 1 to 255 bytes: no slash, no zero, and neither `.` nor `..`.
  public let bytes: [UInt8]

  /// Wraps the bytes of a name; nil where no file can be called so.
  public init?(bytes: [UInt8]) {
    guard (1...255).contains(bytes.count), !bytes.contains(0), !bytes.contains(Self.slash),
      bytes != [Self.dot], bytes != [Self.dot, Self.dot]
    else { return nil }
    self.bytes = bytes
  }

  /// Wraps a name's UTF-8; nil where no file can be called so.
  public init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

  /// The name as text; nil where its bytes are not UTF-8.
  public var text: String? { String(validating: bytes, as: UTF8.self) }

  /// The bytes before the last dot; all of them where there is no other dot than a leading one.
  public var stem: [UInt8] {
    guard let dot = bytes.lastIndex(of: Self.dot), dot > 0 else { return bytes }
    return Array(bytes[..<dot])
  }

  /// The name with more bytes at its end; nil where that is too long for a name.
  public func appending(_ suffix: String) -> FileName? { FileName(bytes: bytes + suffix.utf8) }

  /// Whether the name ends so, where capital and small letters from A to Z are the same.
  public func hasSuffix(_ suffix: String) -> Bool {
    let end = suffix.utf8
    return bytes.count >= end.count
      && zip(bytes.suffix(end.count), end).allSatisfy { $0.asciiLowercase == $1.asciiLowercase }
  }

  package static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")
}

extension FileName: CustomStringConvertible {
  /// A form to show to people, on one line and without bytes that steer a terminal.
  public var description: String { PrintableText.of(bytes) }
}

extension FileName: Comparable {
  /// The order of their bytes.
  public static func < (a: FileName, b: FileName) -> Bool {
    a.bytes.lexicographicallyPrecedes(b.bytes)
  }
}

extension UInt8 {
  /// The small letter of a capital from A to Z; every other byte as it is.
  package var asciiLowercase: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
