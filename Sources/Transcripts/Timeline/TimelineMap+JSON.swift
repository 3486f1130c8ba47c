public import JSONText

extension TimelineMap {
  /// The map as JSON: `{"before", "after", "pieces": [{"from", "to", "at", "until"}]}`, in seconds.
  /// O(n).
  public var json: JSONValue {
    .object([
      "before": .decimal(before), "after": .decimal(after),
      "pieces": .list(
        pieces.map {
          .object([
            "from": .decimal($0.from), "to": .decimal($0.to), "at": .decimal($0.at),
            "until": .decimal($0.until),
          ])
        }),
    ])
  }

  /// Reads what the stages that move sound report; members that are unknown are passed over.
  /// O(n log n).
  /// - Throws: where a member is missing or no number, and where the map is none.
  public init(json: JSONValue) throws(TranscriptError) {
    func number(_ value: JSONValue, _ name: String) throws(TranscriptError) -> Double {
      guard case .number(let digits)? = value[name], let number = Double(digits) else {
        throw TranscriptError(.moving, "the map of times has no number \"\(name)\" where it should")
      }
      return number
    }
    guard let list = json["pieces"]?.list else {
      throw TranscriptError(.moving, "the map of times has no list of pieces")
    }
    var pieces: [Piece] = []
    for value in list {
      pieces.append(
        Piece(
          from: try number(value, "from"), to: try number(value, "to"),
          at: try number(value, "at"), until: try number(value, "until")))
    }
    try self.init(
      before: try number(json, "before"), after: try number(json, "after"), pieces: pieces)
  }
}
