internal import PipelineModel

/// A text cut into lines as libyaml counts them, so that its places can be found again.
struct SourceLines {
  /// The UTF-8 of U+FEFF, with which some editors begin a file.
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// The lines without their ends. A text that ends with a line break has no line behind it, and
  /// an empty text has one empty line.
  let lines: [[Unicode.Scalar]]

  /// Cuts UTF-8; what is not UTF-8 becomes U+FFFD.
  init(_ bytes: some Collection<UInt8>) { self.init(String(decoding: bytes, as: UTF8.self)) }

  /// Cuts a text, leaving out a byte order mark.
  init(_ text: String) {
    var lines: [[Unicode.Scalar]] = []
    var line: [Unicode.Scalar] = []
    var previous: Unicode.Scalar = " "
    for (index, scalar) in text.unicodeScalars.enumerated() {
      switch scalar {
      case "\u{FEFF}" where index == 0: continue
      case "\n" where previous == "\r": break
      // YAML 1.1, which libyaml follows here, also ends lines at these three.
      case "\n", "\r", "\u{85}", "\u{2028}", "\u{2029}":
        lines.append(line)
        line = []
      default: line.append(scalar)
      }
      previous = scalar
    }
    if !line.isEmpty || lines.isEmpty { lines.append(line) }
    self.lines = lines
  }

  /// The place itself if the text has it, else the nearest one. The place behind the last
  /// character of a line is one: that is where something is missing.
  func nearest(to location: SourceLocation) -> SourceLocation {
    let index = min(max(location.line, 1), lines.count) - 1
    let end = lines[index].count + 1
    guard location.line <= lines.count else { return SourceLocation(line: index + 1, column: end) }
    return SourceLocation(line: index + 1, column: min(max(location.column, 1), end))
  }

  /// The place of a byte that is no text: that of the character it begins, or breaks off.
  static func location(ofByte offset: Int, in bytes: [UInt8]) -> SourceLocation {
    var before = bytes.prefix(offset)
    let trail = before.reversed().prefix { $0 & 0xC0 == 0x80 }.count
    if trail < 3, let lead = before.dropLast(trail).last, lead.leadingOneBits > trail + 1 {
      before = before.dropLast(trail + 1)
    }
    let lines = SourceLines(before + Array("|".utf8)).lines
    return SourceLocation(line: lines.count, column: lines.last?.count ?? 1)
  }
}

extension UInt8 {
  /// In the first byte of a UTF-8 sequence of two or more: the number of its bytes.
  fileprivate var leadingOneBits: Int { (~self).leadingZeroBitCount }
}
