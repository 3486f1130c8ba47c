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
        pieces.append(.text(String(decoding: bytes[textStart..<start], as: UTF8.self)))
      }
      pieces.append(.time(time))
      textStart = scanner.position
    }
    let rest = bytes[textStart...]
    if !rest.isEmpty { pieces.append(.text(String(decoding: rest, as: UTF8.self))) }
    return pieces
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
      case .text(let part): text += part
      case .time(let time): text += "<\(ClockText.minutes(time))>"
      case .speaker: break
      }
    }
    return text
  }

  /// A time in the precision of the format.
  static func rounded(_ time: Double) -> Double { (time * 100).rounded() / 100 }
}
