/// The text of WebVTT cues: tags, times, character references, and codes in braces that came from
/// SubRip, which are left out.
enum VTTCueText {
  /// The pieces of a cue's text: voices and times are kept, other tags are left out, and what looks
  /// like a tag without an end is text. O(n).
  static func pieces(of text: String) -> [InlinePiece] {
    var pieces: [InlinePiece] = []
    let bytes = Array(BraceCodes.removed(from: text).utf8)[...]
    var scanner = ByteScanner(bytes)
    while !scanner.isAtEnd {
      let start = scanner.position
      guard scanner.take(upTo: UInt8(ascii: "<")) != nil else {
        pieces.append(.text(unescaped(bytes[start...])))
        break
      }
      if scanner.position - 1 > start {
        pieces.append(.text(unescaped(bytes[start..<scanner.position - 1])))
      }
      let tagStart = scanner.position
      guard let tag = scanner.take(upTo: UInt8(ascii: ">")) else {
        pieces.append(.text(unescaped(bytes[(tagStart - 1)...])))
        break
      }
      if let piece = piece(of: tag) { pieces.append(piece) }
    }
    return pieces
  }

  private static func piece(of tag: ArraySlice<UInt8>) -> InlinePiece? {
    var scanner = ByteScanner(tag)
    if let time = scanner.clock() { return scanner.isAtEnd ? .time(time) : nil }
    if tag.elementsEqual("/v".utf8) { return .speaker(nil) }
    guard tag.first == UInt8(ascii: "v") else { return nil }
    switch tag.dropFirst().first {
    case UInt8(ascii: "."), 0x20, 0x09, 0x0a: break
    default: return nil
    }
    // Behind classes, `<v.loud Name>`, stands the name.
    guard let space = tag.firstIndex(where: { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a }) else {
      return nil
    }
    let name = WrittenWords.onOneLine(unescaped(tag[space...]))
    return .speaker(name.isEmpty ? nil : name)
  }

  private static let references: [(name: String, text: String)] = [
    ("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", "\u{a0}"), ("&lrm;", "\u{200e}"),
    ("&rlm;", "\u{200f}"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&amp;", "&"),
    ("&#123;", "{"),
  ]

  private static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
    guard bytes.contains(UInt8(ascii: "&")) else { return String(decoding: bytes, as: UTF8.self) }
    var result: [UInt8] = []
    var scanner = ByteScanner(bytes)
    while let byte = scanner.next {
      if byte == UInt8(ascii: "&"),
        let reference = references.first(where: { scanner.rest.starts(with: $0.name.utf8) })
      {
        result += reference.text.utf8
        scanner.position += reference.name.utf8.count
      } else {
        result.append(byte)
        scanner.position += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The text of a cue that consists of pieces. O(n).
  static func text(of pieces: [InlinePiece]) -> String {
    var text = ""
    var pieces = pieces[...]
    // One voice to the end needs no closing.
    let voices = pieces.count { if case .speaker = $0 { true } else { false } }
    if case .speaker(let name?)? = pieces.first, voices == 1 {
      text += "<v \(annotation(name))>"
      pieces.removeFirst()
    }
    for piece in pieces {
      switch piece {
      case .text(let part): text += escaped(part)
      case .time(let time): text += "<\(ClockText.hours(time, point: "."))>"
      case .speaker(let name?): text += "<v \(annotation(name))>"
      case .speaker(nil): text += "</v>"
      }
    }
    return text
  }

  private static func annotation(_ name: String) -> String {
    escaped(WrittenWords.onOneLine(name))
  }

  private static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;".unicodeScalars
      case "<": result += "&lt;".unicodeScalars
      case ">": result += "&gt;".unicodeScalars
      case "\\" where result.last == "{":
        // Together they would begin a code.
        result.removeLast()
        result += "&#123;\\".unicodeScalars
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
