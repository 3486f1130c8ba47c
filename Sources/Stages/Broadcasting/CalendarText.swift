/// Days and times of day at the beginning of texts, in digits.
enum CalendarText {
  /// A day, `2026-03-14`; nil where the text begins with none.
  static func date(_ text: some StringProtocol) -> String? {
    guard let fields = fields([4, 2, 2], of: text),
      (1...12).contains(fields[1]), (1...31).contains(fields[2])
    else { return nil }
    return String(text.prefix(10)).replacing(/[^0-9]/, with: "-")
  }

  /// A time of day, `15:09:26`; nil where the text begins with none.
  static func time(_ text: some StringProtocol) -> String? {
    guard let fields = fields([2, 2, 2], of: text), fields[0] < 24,
      fields[1] < 60, fields[2] < 60
    else { return nil }
    return String(text.prefix(8)).replacing(/[^0-9]/, with: ":")
  }

  /// Numbers of so many digits with something between them; EBU Tech 3285 allows `-_:. `.
  private static func fields(
    _ lengths: [Int], of text: some StringProtocol
  ) -> [Int]? {
    var rest = text[...]
    var fields: [Int] = []
    for (index, length) in lengths.enumerated() {
      if index > 0 {
        guard let first = rest.popFirst(), "-_:. ".contains(first) else {
          return nil
        }
      }
      let digits = rest.prefix(length)
      guard digits.utf8.count == length, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int(digits)
      else { return nil }
      fields.append(number)
      rest = rest.dropFirst(length)
    }
    return fields
  }
}
