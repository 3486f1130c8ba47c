/// What a database had lost and took in again from what lies beside it.
struct CatchUp: Hashable, Sendable {
  var checkpoints = 0
  var runs = 0
  var notes = 0
  /// The notes that are counted: a line may tell of a part of one.
  private var counted: Set<String> = []

  init(checkpoints: Int = 0, runs: Int = 0, notes: Int = 0) {
    (self.checkpoints, self.runs, self.notes) = (checkpoints, runs, notes)
  }

  /// Counts a note once.
  mutating func countNote(_ key: Substring) {
    if counted.insert(String(key)).inserted { notes += 1 }
  }

  var isEmpty: Bool { checkpoints == 0 && runs == 0 && notes == 0 }

  /// `2 checkpoints, 1 run`.
  var words: String {
    [(checkpoints, "checkpoint"), (runs, "run"), (notes, "note")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
      .joined(separator: ", ")
  }

  /// The whole story in one line.
  var line: String {
    "the store's database knew less than the records beside it, and took them in: \(words)"
  }
}
