public import Sidecars

/// What a recording's own name tells about it: `2026-11-21_14-05 Team meeting.m4a`.
public struct FileNameFacts: Hashable, Sendable {
  /// The first time or date in the name; its zone is never known.
  public private(set) var createdAt: Timestamp?
  /// The UUID in the name.
  public private(set) var noteID: NoteID?
  /// What is left of it in words; nil where there are none.
  public private(set) var title: String?

  /// Reads a name. O(n²) in its at most 255 bytes.
  public init(_ name: FileName) {
    var bytes = name.stem
    if let (range, id) = Self.first(in: bytes, Self.noteID) {
      noteID = id
      bytes.replaceSubrange(range, with: " ".utf8)
    }
    if let (range, time) = Self.first(in: bytes, Self.time) {
      createdAt = time
      bytes.replaceSubrange(range, with: " ".utf8)
    }
    title = Self.title(bytes)
  }

  /// The first place where something begins that is not the tail of a longer number.
  private static func first<Value>(
    in bytes: [UInt8], _ read: (ArraySlice<UInt8>) -> (count: Int, value: Value)?
  ) -> (Range<Int>, Value)? {
    for start in bytes.indices where start == 0 || !bytes[start - 1].isWordByte {
      if let (count, value) = read(bytes[start...]) { return (start..<start + count, value) }
    }
    return nil
  }

  private static func noteID(_ bytes: ArraySlice<UInt8>) -> (Int, NoteID)? {
    for count in [36, 32] where bytes.count >= count {
      let isCutOff = bytes.dropFirst(count).first.map(\.isWordByte) ?? false
      let text = String(decoding: bytes.prefix(count), as: UTF8.self)
      if !isCutOff, let id = NoteID(text) { return (count, id) }
    }
    return nil
  }

  /// A date, and a time of day if one follows: `2026-11-21_14-05`, `20261121-140533`,
  /// `2026-11-21T14.05.33`, `20261121140533`, `2026-11-21`.
  private static func time(_ bytes: ArraySlice<UInt8>) -> (Int, Timestamp)? {
    var rest = DigitScanner(bytes)
    guard let year = rest.number(digits: 4), (1970...2100).contains(year) else { return nil }
    let mark = ["-", "_", "."].first { rest.skip($0) }
    guard let month = rest.number(digits: 2), mark.map({ rest.skip($0) }) ?? true,
      let day = rest.number(digits: 2), let date = Timestamp(year: year, month: month, day: day)
    else { return nil }
    var clock = rest
    let isApart = ["T", "t", "_", "-", " ", "."].contains { clock.skip($0) }
    if let (hour, minute, second) = timeOfDay(&clock),
      let time = Timestamp(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    {
      return (bytes.count - clock.rest.count, time)
    }
    // More digits make it a number of another kind.
    guard isApart || !rest.isAtDigit else { return nil }
    return (bytes.count - rest.rest.count, date)
  }

  private static func timeOfDay(_ rest: inout DigitScanner) -> (Int, Int, Int)? {
    guard let hour = rest.number(digits: 2) else { return nil }
    let mark = ["-", ".", ":", "_", "h"].first { rest.skip($0) }
    guard let minute = rest.number(digits: 2) else { return nil }
    var second = 0
    var behind = rest
    if mark.map({ behind.skip($0) }) ?? true, let written = behind.number(digits: 2),
      !behind.isAtDigit
    {
      second = written
      rest = behind
    }
    return rest.isAtDigit ? nil : (hour, minute, second)
  }

  /// Underscores are spaces; a rest without a letter is no title.
  private static func title(_ bytes: [UInt8]) -> String? {
    let spaced = bytes.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: " ") : $0 }
    guard let text = PlainText(String(decoding: spaced, as: UTF8.self), limit: 255)?.text,
      text.contains(where: \.isLetter)
    else { return nil }
    let edges: Set<Character> = [" ", "-", ".", ",", "(", "["]
    var title = text[...]
    while let first = title.first, edges.contains(first) { title.removeFirst() }
    while let last = title.last, edges.contains(last) { title.removeLast() }
    return title.isEmpty ? nil : String(title)
  }
}

extension UInt8 {
  /// Whether it is a letter from A to Z or a digit.
  fileprivate var isWordByte: Bool {
    DigitScanner.isDigit(self)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(asciiLowercase)
  }
}
