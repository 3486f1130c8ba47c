extension JSONValue: Encodable {
  /// Writes the value as part of another; a number with more digits than a double holds loses them.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .list(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(value) }
      return
    case .object(let values):
      var container = encoder.singleValueContainer()
      try container.encode(values)
      return
    case .null, .boolean, .number, .text: break
    }
    var container = encoder.singleValueContainer()
    switch self {
    case .boolean(let isTrue): try container.encode(isTrue)
    case .number(let digits):
      if let whole = Int64(digits) {
        try container.encode(whole)
      } else {
        try container.encode(Double(digits))
      }
    case .text(let text): try container.encode(text)
    case .null, .list, .object: try container.encodeNil()
    }
  }
}
