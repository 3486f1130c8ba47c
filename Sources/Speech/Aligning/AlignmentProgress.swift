/// How far an alignment is: what was heard and found so far. Work that was cut off goes on with
/// it, and comes to the same end.
public struct AlignmentProgress: Hashable, Sendable, Codable {
  /// What was heard in each piece of the listening plan; nil where nobody listened yet.
  var heard: [[HeardWord]?] = []
  /// Where the words of each piece of the alignment plan are; nil where that is not known yet.
  var aligned: [PieceOutcome?] = []

  /// How much of the work is done: 0 to 1.
  public var share: Double {
    func share<Item>(_ items: [Item?]) -> Double {
      items.isEmpty ? 0 : Double(items.count { $0 != nil }) / Double(items.count)
    }
    return 0.6 * share(heard) + 0.4 * share(aligned)
  }

  /// Nothing is done yet.
  public init() {}
}

/// What came of aligning a piece.
struct PieceOutcome: Hashable, Codable {
  /// What was heard of each of its words; empty where nothing was.
  var words: [[HeardWord]]
  /// How well each word fits, as far as that was asked: the acoustic score of a hundredth.
  var scores: [Double?]
}
