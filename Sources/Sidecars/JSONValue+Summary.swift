public import JSONText

extension JSONValue {
  /// For messages: `the number 12`, `a list`, `the text "abc"`.
  public var summary: String {
    switch self {
    case .null: "null"
    case .boolean(let isTrue): "\(isTrue)"
    case .number(let digits): "the number \(digits.prefix(24))"
    case .text(let text):
      "the text \"\(PrintableText.of(Array(text.prefix(40).utf8)))\(text.count > 40 ? "…" : "")\""
    case .list: "a list"
    case .object: "an object"
    }
  }
}
