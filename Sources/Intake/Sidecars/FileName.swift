/// The name of a file or folder: bytes, not necessarily text.
package struct FileName: Hashable, Sendable {
  /// 1 to 255 bytes without slash and zero; neither `.` nor `..`.
  package let bytes: [UInt8]

  /// Nil for an invalid name.
  package init?(bytes: [UInt8]) {
    guard (1...255).contains(bytes.count), !bytes.contains(0), !bytes.contains(Self.slash),
      bytes != [Self.dot], bytes != [Self.dot, Self.dot]
    else { return nil }
    self.bytes = bytes
  }

  /// Nil for an invalid name.
  package init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

  /// The name as text; nil if its bytes are not UTF-8.
  package var text: String? { String(validating: bytes, as: UTF8.self) }

  /// The bytes before the last dot; a leading dot does not count.
  package var stem: [UInt8] {
    guard let dot = bytes.lastIndex(of: Self.dot), dot > 0 else { return bytes }
    return Array(bytes[..<dot])
  }

  /// The name with a suffix; nil if that is too long.
  package func appending(_ suffix: String) -> FileName? { FileName(bytes: bytes + suffix.utf8) }

  /// Ignores the case of ASCII letters.
  package func hasSuffix(_ suffix: String) -> Bool {
    let end = suffix.utf8
    return bytes.count >= end.count
      && zip(bytes.suffix(end.count), end).allSatisfy { $0.asciiLowercase == $1.asciiLowercase }
  }

  package static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")
}

extension FileName: CustomStringConvertible {
  /// One line, without bytes that steer a terminal.
  package var description: String { PrintableText.of(bytes) }
}

extension FileName: Comparable {
  /// Byte order.
  package static func < (a: FileName, b: FileName) -> Bool {
    a.bytes.lexicographicallyPrecedes(b.bytes)
  }
}

extension UInt8 {
  /// The lower case of an ASCII letter; every other byte as it is.
  package var asciiLowercase: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}

extension PrintableText {
  /// Untrusted text made fit for a file name on every file system and in every shell, without an
  /// extension: never empty or hidden, no path and no option; nil if nothing is left.
  ///
  /// Separators, and the characters that Windows forbids or shells read, become hyphens; invisible
  /// characters, and points, hyphens and spaces at both ends, are removed.
  ///
  /// - Parameter byteLimit: the longest result in UTF-8; it is cut between characters.
  static func fileName(_ text: String, byteLimit: Int = 120) -> String? {
    guard let plain = plain(text, limit: 1000) else { return nil }
    var replaced = ""
    for character in plain {
      let isForbidden = character.unicodeScalars.contains { forbidden.contains($0) }
      if isForbidden, replaced.hasSuffix("-") { continue }
      replaced.append(isForbidden ? "-" : character)
    }
    var name = trimmed(replaced)
    while name.utf8.count > byteLimit, !name.isEmpty { name.removeLast() }
    name = trimmed(name)
    guard !name.isEmpty else { return nil }
    // Windows opens a device under these names, whatever their extension.
    let base = name.prefix { $0 != "." }.lowercased()
    return devices.contains(base) ? "_" + name : name
  }

  /// The same for the name of a file without its ending, where what would be an option keeps its place
  /// as _.
  static func stem(_ text: String) -> String? {
    fileName(text).map { text.hasPrefix("-") ? "_" + $0 : $0 }
  }

  private static func trimmed(_ text: String) -> String {
    var text = text[...]
    while let first = text.first, edges.contains(first) { text.removeFirst() }
    while let last = text.last, edges.contains(last) { text.removeLast() }
    return String(text)
  }

  private static let edges: Set<Character> = [" ", ".", "-", "~"]
  private static let forbidden: Set<Unicode.Scalar> = [
    "/", "\\", ":", "*", "?", "\"", "'", "<", ">", "|", "$", "`", ";", "&", "%", "{", "}",
    "\u{fffd}",
  ]
  private static let devices = Set(
    ["con", "prn", "aux", "nul"] + (1...9).flatMap { ["com\($0)", "lpt\($0)"] })
}

/// An arrived file's own name, made fit to be part of any path.
struct RecordingName: Hashable, Sendable {
  let stem: String
  /// The ending with its dot; empty if there is none.
  let ending: String

  /// Takes a name that is already fit, and the recording's own ending.
  init(stem: String, endingOf name: FileName?) {
    self.stem = stem
    ending = RecordingName(name).ending
  }

  /// Cleans a name. Never fails: an empty result becomes `recording`.
  init(_ name: FileName?) {
    guard let name else {
      (stem, ending) = ("recording", "")
      return
    }
    let bytes = name.bytes
    let stemBytes = name.stem
    // As every command names exports: what would be a path keeps its place as _.
    let text = String(decoding: stemBytes, as: UTF8.self).replacing("\\", with: "_")
    stem = PrintableText.stem(text) ?? "recording"
    let rest = String(decoding: bytes.dropFirst(stemBytes.count + 1), as: UTF8.self)
    let isPlain = rest.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x7a).contains($0 | 0x20)
    }
    ending = isPlain && (1...8).contains(rest.utf8.count) ? "." + rest : ""
  }

  func text(marked mark: String? = nil) -> String {
    stem + (mark.map { "-\($0)" } ?? "") + ending
  }

  /// A file name whose exports keep the whole stem: export names drop what follows the last dot.
  func fileName(marked mark: String? = nil) -> String {
    text(marked: mark) + (ending.isEmpty && stem.contains(".") ? ".recording" : "")
  }
}

/// The identity that a device gave a recording: a UUID (RFC 9562) in canonical form.
struct NoteID: Hashable, Sendable {
  /// 32 hexadecimal digits in lower case, with hyphens after 8, 12, 16 and 20.
  let text: String
  /// As written.
  let written: String

  /// Reads a UUID in either case, with or without hyphens, in braces or after `urn:uuid:`; nil for
  /// anything else.
  init?(_ text: some StringProtocol) {
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

  /// Equal in canonical form.
  static func == (a: NoteID, b: NoteID) -> Bool { a.text == b.text }

  func hash(into hasher: inout Hasher) { hasher.combine(text) }

  private static let digits = Set("0123456789abcdef".utf8)
}

extension NoteID: CustomStringConvertible {
  var description: String { text }
}
