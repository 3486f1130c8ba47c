/// What was heard on all ways through a piece of sound, each with what was heard before it.
struct PhraseTrail {
  /// A word or a silence that may have been heard.
  private struct Record {
    /// The number of the word; -1 for silence.
    let word: Int32
    /// Whether the thread was lost before it ended.
    let isLost: Bool
    let end: Int32
    let before: Int32
    /// The logarithm of the likelihood of the way that ends with it.
    let score: Float
  }

  private let graph: PhraseGraph
  private let costs: PhraseCosts
  private var records: [Record] = []

  /// A trail of nothing yet.
  init(_ graph: PhraseGraph, _ costs: PhraseCosts) {
    self.graph = graph
    self.costs = costs
  }

  /// Forgets what was heard.
  mutating func begin() { records.removeAll(keepingCapacity: true) }

  /// Notes that a word, or -1 for silence, may have been heard until a frame.
  ///
  /// - Returns: its number, for what is heard after it.
  mutating func note(
    _ word: Int32, isLost: Bool, until end: Int32, after before: Int32, _ score: Float
  ) -> Int32 {
    records.append(Record(word: word, isLost: isLost, end: end, before: before, score: score))
    return Int32(records.count - 1)
  }

  /// The words on one of the ways, in rows.
  ///
  /// - Parameters:
  ///   - last: the number of what was heard last; -1 for nothing.
  ///   - loop: the sounds of the same frames.
  func rows(to last: Int32, against loop: SoundLoop) -> [HeardRow] {
    var rows: [HeardRow] = []
    var words: [HeardWord] = []
    var past = last
    while past >= 0 {
      let record = records[Int(past)]
      if record.word >= 0 {
        words.append(word(of: record, against: loop))
        if record.isLost {
          rows.append(HeardRow(words: words.reversed()))
          words = []
        }
      }
      past = record.before
    }
    return rows.reversed()
  }

  private func word(of record: Record, against loop: SoundLoop) -> HeardWord {
    let before = record.before >= 0 ? records[Int(record.before)] : nil
    let frames = Int(before?.end ?? 0)..<Int(record.end)
    let score = record.score - (before?.score ?? 0) + cost(of: record, after: before)
    return HeardWord(
      key: graph.keys[Int(record.word)], hundredths: frames,
      score: Double(score - loop.score(of: frames)) / Double(max(1, frames.count)))
  }

  /// What it cost to begin a word, beside its sound.
  private func cost(of record: Record, after before: Record?) -> Float {
    guard let before, before.word >= 0 else { return record.isLost ? PhraseCosts.lostWord : 0 }
    if record.isLost { return PhraseCosts.lostWord + (before.isLost ? 0 : PhraseCosts.losing) }
    return before.isLost ? costs.finding(Int(before.word)) : 0
  }
}
