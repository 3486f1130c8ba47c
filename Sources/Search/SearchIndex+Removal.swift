internal import PipelineModel
internal import Platform

/// What leaves the index, and what comes back.
extension SearchIndex {
  /// Removes the words of recordings, and those of artifacts, durably and with the terms in which FTS5
  /// keeps them: what was there before them does not come back. Other recordings that had the same words
  /// are looked at again by the next update. O(index).
  mutating func forget(recordings: [String], artifacts: [String]) throws(SpoolError) {
    try database.flushCommits(to: Self.filling)
    try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
      let keys =
        recordings.map { ("recording", $0) } + artifacts.map { ("artifact", $0) }
      for (column, value) in keys {
        let removed = try database.run(
          "DELETE FROM sources WHERE \(column) = ? RETURNING text, run", [.text(value)],
          to: Self.filling)
        for row in removed {
          try Self.removeUnlessUsed(row[0], from: &database)
          if column == "artifact", let run = row[1].text {
            try Self.note(RunID(run), .unread, in: &database)
          }
        }
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

  /// Adds the words again that were gone, and that the store holds now: its files were put back.
  /// O(texts that are gone).
  mutating func takeBack(
    from store: any ArtifactStore, holds: (Digest) -> Bool
  ) throws(SpoolError) -> [(name: String, fault: SpoolError)] {
    var unread: [(name: String, fault: SpoolError)] = []
    let rows = try database.run(
      "SELECT artifact, byte_count, max(path) FROM sources WHERE text = 0 GROUP BY artifact",
      to: Self.filling)
    for row in rows {
      guard let digest = row[0].text.flatMap(Digest.init(hex:)), holds(digest) else { continue }
      let artifact = Artifact(
        kind: .transcript, digest: digest, byteCount: Int(row[1].integer ?? 0))
      do throws(SpoolError) {
        guard let page = try Self.page(of: artifact, in: store, holds: holds) else { continue }
        try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
          let text = try Self.add(page, to: &database)
          try database.run(
            "UPDATE sources SET text = ? WHERE artifact = ? AND text = 0", [text, row[0]],
            to: Self.filling)
        }
      } catch {
        unread.append((SearchHit.paths(in: row[2].text ?? digest.hex).recordingName, error))
      }
    }
    return unread
  }
}
