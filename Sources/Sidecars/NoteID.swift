/// The identity that a device gave a note: a UUID (RFC 9562), in one form however it was written.
public struct NoteID: Hashable, Sendable {
  /// 32 hexadecimal digits in small letters, with hyphens after 8, 12, 16 and 20.
  public let text: String
  /// The same as it was written.
  public let written: String

  /// Reads a UUID: in capital or small letters, with its hyphens or without any, also in braces
  /// or after `urn:uuid:`; nil for anything else.
  public init?(_ text: some StringProtocol) {
    self.written = String(text)
    var written = text.lowercased()[...]
    if written.hasPrefix("urn:uuid:") { written.removeFirst(9) }
    if written.hasPrefix("{"), written.hasSuffix("}") {
      written = written.dropFirst().dropLast()
    }
    let groups = written.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    let digits = Array(groups.joined())
    guard [[32], [8, 4, 4, 4, 12]].contains(groups.map(\.count)),
      digits.allSatisfy({ Self.digits.contains($0) })
    else { return nil }
    let ends = [8, 12, 16, 20, 32]
    self.text = zip([0] + ends, ends).map { start, end in
      String(decoding: digits[start..<end], as: UTF8.self)
    }.joined(separator: "-")
  }

  /// Whether both name one note, however they are written.
  public static func == (a: NoteID, b: NoteID) -> Bool { a.text == b.text }

  /// Hashes what makes them equal.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }

  private static let digits = Set("0123456789abcdef".utf8)
}

extension NoteID: CustomStringConvertible {
  /// The one form.
  public var description: String { text }
}
