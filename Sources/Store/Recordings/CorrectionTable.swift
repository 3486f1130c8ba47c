internal import PipelineModel
package import Platform

/// A correction of a recording's words, as the store keeps it.
package struct StoredCorrection: Hashable, Sendable {
  /// Who made it.
  package var author: String
  /// When, as ISO 8601.
  package var time: String
  /// The transcript that it was made over.
  package var transcript: Digest
  /// What changed, as JSON.
  package var changes: String

  package init(author: String, time: String, transcript: Digest, changes: String) {
    (self.author, self.time) = (author, time)
    (self.transcript, self.changes) = (transcript, changes)
  }
}

/// The corrections of the words of recordings, oldest first. No run and no collection removes them.
package struct CorrectionTable: Sendable {
  let database: SharedDatabase

  private static let reading = "read corrections in"
  private static let writing = "record a correction in"

  /// The corrections of a recording, which is named by the digest of its file. O(their length).
  package func all(of recording: Digest) throws(SpoolError) -> [StoredCorrection] {
    let rows = try database.run(
      """
      SELECT author, at, transcript, changes FROM word_corrections WHERE recording = ?
      ORDER BY number
      """, [.text(recording.hex)], to: Self.reading)
    return try rows.map { (row) throws(SpoolError) in
      guard let changes = row[3].text.flatMap(SealedText.open),
        let transcript = row[2].text.flatMap(Digest.init(hex:))
      else {
        throw SpoolError(
          Self.reading, "the store", reason: "a correction of \(recording.short) is damaged",
          advice: "\(command: .repair) takes it from the change log")
      }
      return StoredCorrection(
        author: row[0].text ?? "", time: row[1].text ?? "", transcript: transcript,
        changes: changes)
    }
  }

  /// The recordings with corrections, each with a text that changes whenever they do. O(corrections).
  package func versions() throws(SpoolError) -> [String: String] {
    let rows = try database.run(
      """
      SELECT recording, substr(changes, 1, 64) FROM word_corrections ORDER BY recording, number
      """, to: Self.reading)
    let texts = rows.reduce(into: [String: String]()) { texts, row in
      if let recording = row[0].text { texts[recording, default: ""] += row[1].text ?? "" }
    }
    return texts.mapValues { SHA256.digest(of: $0).hex }
  }

  /// Adds a correction, durably and in one transaction.
  /// - Parameter count: how many the recording had when the correction was made. Throws, and adds
  ///   nothing, if it has others now.
  package func add(
    _ correction: StoredCorrection, to recording: Digest, after count: Int
  ) throws(SpoolError) {
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        let there = try database.run(
          "SELECT count(*) FROM word_corrections WHERE recording = ?", [.text(recording.hex)],
          to: Self.writing
        ).first?[0].integer
        guard there == Int64(count) else {
          throw SpoolError(
            "the words were corrected meanwhile", reason: "by another process",
            advice: "correct them again: the text has the other correction then")
        }
        try database.run(
          "INSERT INTO word_corrections VALUES (?, ?, ?, ?, ?, ?)",
          [
            .text(recording.hex), .integer(Int64(count + 1)), .text(correction.author),
            .text(correction.time), .text(correction.transcript.hex),
            .text(SealedText.seal(correction.changes)),
          ], to: Self.writing)
      }
    }
  }

  /// Removes the last correction of a recording, durably.
  /// - Returns: who had made it and when; nil if there is none.
  package func removeLast(
    of recording: Digest
  ) throws(SpoolError) -> (author: String, time: String)? {
    let row = try database.run(
      """
      DELETE FROM word_corrections WHERE recording = ?1 AND number =
        (SELECT max(number) FROM word_corrections WHERE recording = ?1)
      RETURNING author, at
      """, [.text(recording.hex)], to: Self.writing
    ).first
    return row.map { ($0[0].text ?? "", $0[1].text ?? "") }
  }
}
