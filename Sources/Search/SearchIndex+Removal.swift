internal import PipelineModel
internal import Platform

/// What leaves the index.
extension SearchIndex {
  /// Removes the words of recordings, and those of artifacts, durably and with the terms in which FTS5
  /// keeps them: what was there before them does not come back. O(index).
  mutating func forget(recordings: [String], artifacts: [String]) throws(SpoolError) {
    try database.flushCommits(to: Self.filling)
    try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
      let keys =
        recordings.map { ("recording", $0) } + artifacts.map { ("artifact", $0) }
      for (column, value) in keys {
        let texts = try database.run(
          "DELETE FROM sources WHERE \(column) = ? RETURNING text", [.text(value)],
          to: Self.filling)
        for row in texts { try Self.removeUnlessUsed(row[0], from: &database) }
      }
      try database.run("INSERT INTO texts (texts) VALUES ('optimize')", to: Self.filling)
    }
  }

  /// Removes the transcripts that a store does not hold any more. Words that these replaced do not come
  /// back.
  mutating func prune(unless holds: (Digest) -> Bool) throws(SpoolError) {
    let rows = try database.run(
      "SELECT DISTINCT artifact, text FROM sources WHERE text <> 0", to: Self.filling)
    let gone = rows.filter { row in
      guard let digest = row[0].text.flatMap(Digest.init(hex:)) else { return true }
      return !holds(digest)
    }
    if gone.isEmpty { return }
    try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
      for row in gone {
        try database.run(
          "UPDATE sources SET text = 0, correction = '' WHERE artifact = ?", [row[0]],
          to: Self.filling)
        try Self.removeUnlessUsed(row[1], from: &database)
      }
    }
  }
}
