internal import PipelineModel

/// How far the index has looked through the list of runs.
extension SearchIndex {
  /// The newest run that was looked at, and its place in the order of runs.
  struct Mark: Hashable, Sendable {
    let run: String
    let number: Int64
  }

  /// nil where none was looked at.
  mutating func mark() throws(StoreError) -> Mark? {
    try database.run("SELECT run, number FROM mark", to: Self.action).first.map {
      Mark(run: $0[0].text ?? "", number: $0[1].integer ?? 0)
    }
  }

  /// The runs that were under way when they were looked at.
  mutating func pending() throws(StoreError) -> [String] {
    try database.run("SELECT run FROM pending ORDER BY run", to: Self.action).compactMap {
      $0[0].text
    }
  }

  /// Notes how far the runs were looked through, and which of them are still under way.
  mutating func note(_ mark: Mark?, pending: [String]) throws(StoreError) {
    if try mark == self.mark(), try pending.sorted() == self.pending() { return }
    try database.transaction(to: Self.filling) { (database) throws(StoreError) in
      if let mark {
        try database.run(
          "INSERT OR REPLACE INTO mark (id, run, number) VALUES (1, ?, ?)",
          [.text(mark.run), .integer(mark.number)], to: Self.filling)
      }
      try database.run("DELETE FROM pending", to: Self.filling)
      for run in pending {
        try database.run("INSERT INTO pending VALUES (?)", [.text(run)], to: Self.filling)
      }
    }
  }
}
