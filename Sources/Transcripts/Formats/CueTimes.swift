import Platform

/// The timing line of a subtitle: `00:00:01,000 --> 00:00:02.5 position:10%`.
enum CueTimes {
  /// Whether a line looks like a timing line: an arrow after text that begins with a digit, or a
  /// minus and a digit, and contains a colon. Other text may contain arrows too. O(n).
  static func areIn(_ line: SourceLine) -> Bool { areIn(line.bytes) }

  static func areIn(_ line: ArraySlice<UInt8>) -> Bool {
    guard let arrow = arrow(in: line) else { return false }
    var start = line[..<arrow].drop { $0 == 0x20 || $0 == 0x09 }
    if start.first == UInt8(ascii: "-") { start = start.dropFirst() }
    return start.first?.isDigit == true
      && start.contains(UInt8(ascii: ":"))
  }

  private static func arrow(in bytes: ArraySlice<UInt8>) -> Int? {
    var rest = bytes
    while let dash = rest.firstIndex(of: UInt8(ascii: "-")) {
      if bytes[dash...].starts(with: "-->".utf8) { return dash }
      rest = bytes[(dash + 1)...]
    }
    return nil
  }

  /// The times of a line, in seconds, and the text after them; an end before the start is dropped.
  static func read(
    _ line: SourceLine
  ) throws(SpoolError) -> (times: (start: Double, end: Double?), settings: ArraySlice<UInt8>) {
    var scanner = ByteScanner(line.bytes)
    let start = try time(&scanner, in: line)
    scanner.skipSpace()
    guard scanner.skip("-->") else { throw line.error(at: scanner.position, expected: "-->") }
    let end = try time(&scanner, in: line)
    guard scanner.isAtEnd || scanner.next == 0x20 || scanner.next == 0x09 else {
      throw line.error(at: scanner.position, expected: "a space, or the end of the line")
    }
    let ordered = Times.ordered(start, end)
    return ((start, ordered.end), scanner.rest)
  }

  private static func time(
    _ scanner: inout ByteScanner, in line: SourceLine
  ) throws(SpoolError) -> Double {
    scanner.skipSpace()
    guard let time = scanner.clock() else {
      throw line.error(at: scanner.position, expected: "a time such as 00:01:02,345")
    }
    return time
  }
}

/// Position and font codes that subtitle editors leave in the text: `{\\an8}`.
enum BraceCodes {
  /// A text without everything between `{\\` and `}` on one line. O(n).
  static func removed(from text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "{")) else { return text }
    let scalars = Array(text.unicodeScalars)
    var kept = String.UnicodeScalarView()
    var (ends, lineEnds) = (SignFinder("}"), SignFinder("\n"))
    var index = 0
    while index < scalars.count {
      if scalars[index] == "{", index + 1 < scalars.count, scalars[index + 1] == "\\",
        let end = ends.place(in: scalars, from: index),
        end < lineEnds.place(in: scalars, from: index) ?? scalars.count
      {
        index = end + 1
      } else {
        kept.append(scalars[index])
        index += 1
      }
    }
    return String(kept)
  }
}
