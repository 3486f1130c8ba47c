/// The text of a line of lyrics, with times between its words.
enum LRCLine {
  /// The pieces of a line behind its own time. O(n).
  static func pieces(of bytes: ArraySlice<UInt8>) -> [InlinePiece] {
    var pieces: [InlinePiece] = []
    var scanner = ByteScanner(bytes)
    var textStart = scanner.position
    while let byte = scanner.next {
      let start = scanner.position
      guard byte == UInt8(ascii: "<"), scanner.skip("<"), let time = scanner.clock(),
        scanner.skip(">")
      else {
        scanner.position = start + 1
        continue
      }
      if start > textStart {
        pieces.append(.text(read(bytes[textStart..<start])))
      }
      pieces.append(.time(time))
      textStart = scanner.position
    }
    let rest = bytes[textStart...]
    if !rest.isEmpty { pieces.append(.text(read(rest))) }
    return pieces
  }

  /// Text as it is read. O(n).
  static func read(_ bytes: ArraySlice<UInt8>) -> String {
    var text = String(decoding: bytes, as: UTF8.self)
    for (sign, end) in brackets {
      text = WordJoiner.unguarded(text, at: sign) { isClock($0, before: end) }
    }
    return text
  }

  /// Text as it is written: no time in it is taken for that of a word or a line. O(n).
  private static func written(_ text: String) -> String {
    brackets.reduce(text) { text, bracket in
      WordJoiner.guarded(text, at: bracket.sign) { isClock($0, before: bracket.end) }
    }
  }

  private static let brackets: [(sign: Unicode.Scalar, end: String)] = [("<", ">"), ("[", "]")]

  private static func isClock(_ rest: Substring.UnicodeScalarView, before end: String) -> Bool {
    var scanner = ByteScanner(Array(String(rest.prefix(40)).utf8)[...])
    return scanner.clock() != nil && scanner.skip(end)
  }

  /// Whether nothing is said in it.
  static func isEmpty(_ pieces: [InlinePiece]) -> Bool {
    pieces.allSatisfy { piece in
      if case .text(let text) = piece { WrittenWords.trimmed(text).isEmpty } else { true }
    }
  }

  /// The text of a line; the format has no speakers. O(n).
  static func text(of pieces: [InlinePiece]) -> String {
    var text = ""
    for piece in pieces {
      switch piece {
      case .text(let part): text += written(part)
      case .time(let time): text += "<\(ClockText.minutes(time))>"
      case .speaker: break
      }
    }
    return text
  }

  /// A time in the precision of the format.
  static func rounded(_ time: Double) -> Double { (time * 100).rounded() / 100 }
}
