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

  /// The corrections of a recording, oldest first. O(their length).
  /// - Parameters:
  ///   - recordings: the digests of the files of its sound: corrections may have been made over any of
  ///     them.
  ///   - transcript: words whose corrections count under any recording: older versions kept those of a
  ///     sound of several recordings under the first of them. Nil for none.
  package func all(
    of recordings: [Digest], over transcript: Digest? = nil
  ) throws(SpoolError) -> [StoredCorrection] {
    let rows = try database.with { (database) throws(SpoolError) in
      try Self.rows(of: recordings, over: transcript, in: &database)
    }
    return try rows.map { (row) throws(SpoolError) in
      guard let changes = row.columns[3].text.flatMap(SealedText.open),
        let transcript = row.columns[2].text.flatMap(Digest.init(hex:))
      else {
        throw SpoolError(
          Self.reading, "the store", reason: "a correction of \(row.recording.short) is damaged",
          advice: "\(command: .repair) takes it from the change log")
      }
      return StoredCorrection(
        author: row.columns[0].text ?? "", time: row.columns[1].text ?? "",
        transcript: transcript, changes: changes)
    }
  }

  private typealias Row = (recording: Digest, number: Int64, columns: SQLRow)

  /// The corrections of all files of a sound in the order in which they were made: of each file by their
  /// numbers, whatever the clock said, and of different files by their times.
  private static func rows(
    of recordings: [Digest], over transcript: Digest?, in database: inout Database
  ) throws(SpoolError) -> [Row] {
    var lists: [ArraySlice<Row>] = []
    for row in try transcript.map({ (transcript) throws(SpoolError) in
      try database.run(
        """
        SELECT author, at, transcript, changes, number, recording FROM word_corrections
        WHERE transcript = ? ORDER BY number
        """, [.text(transcript.hex)], to: reading)
    }) ?? [] {
      guard let other = row[5].text.flatMap(Digest.init(hex:)), !recordings.contains(other) else {
        continue
      }
      let entry: Row = (other, row[4].integer ?? 0, row)
      if let list = lists.firstIndex(where: { $0.first?.recording == other }) {
        lists[list].append(entry)
      } else {
        lists.append([entry])
      }
    }
    for recording in Set(recordings).sorted(by: { $0.hex < $1.hex }) {
      let rows = try database.run(
        """
        SELECT author, at, transcript, changes, number FROM word_corrections WHERE recording = ?
        ORDER BY number
        """, [.text(recording.hex)], to: reading)
      lists.append(rows.map { (recording, $0[4].integer ?? 0, $0) }[...])
    }
    var all: [Row] = []
    func next(_ list: ArraySlice<Row>) -> String { list.first?.columns[1].text ?? "" }
    while true {
      lists.removeAll(where: \.isEmpty)
      guard let first = lists.indices.min(by: { next(lists[$0]) < next(lists[$1]) }) else {
        return all
      }
      all.append(lists[first].removeFirst())
    }
  }

  /// The recordings with corrections, each with a text that changes whenever they do. O(corrections).
  package func versions() throws(SpoolError) -> [String: String] {
    try versions(by: "recording")
  }

  /// The same of the transcripts that were corrected.
  package func transcriptVersions() throws(SpoolError) -> [String: String] {
    try versions(by: "transcript")
  }

  private func versions(by column: String) throws(SpoolError) -> [String: String] {
    let rows = try database.run(
      """
      SELECT \(column), substr(changes, 1, 64) FROM word_corrections ORDER BY recording, number
      """, to: Self.reading)
    let texts = rows.reduce(into: [String: String]()) { texts, row in
      if let recording = row[0].text { texts[recording, default: ""] += row[1].text ?? "" }
    }
    return texts.mapValues { SHA256.digest(of: $0).hex }
  }

  /// Adds a correction, durably and in one transaction.
  /// - Parameters:
  ///   - recordings: the digests of the files of its sound, that of the corrected one first.
  ///   - transcript: as for ``all(of:over:)``.
  ///   - count: how many they had when the correction was made. Throws, and adds nothing, if they have
  ///     others now.
  package func add(
    _ correction: StoredCorrection, to recordings: [Digest], over transcript: Digest? = nil,
    after count: Int
  ) throws(SpoolError) {
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        let there = try Self.rows(of: recordings, over: transcript, in: &database)
        guard there.count == count else {
          throw SpoolError(
            "the words were corrected meanwhile", reason: "by another process",
            advice: "correct them again: the text has the other correction then")
        }
        // Behind the last one, so that their order does not depend on the clock.
        let own = there.filter { recordings.contains($0.recording) }
        guard let recording = own.last?.recording ?? recordings.first else { return }
        try database.run(
          "INSERT INTO word_corrections VALUES (?, ?, ?, ?, ?, ?)",
          [
            .text(recording.hex), .integer((own.last?.number ?? 0) + 1),
            .text(correction.author), .text(correction.time), .text(correction.transcript.hex),
            .text(SealedText.seal(correction.changes)),
          ], to: Self.writing)
      }
    }
  }

  /// Removes the last correction of a recording, durably.
  /// - Parameters:
  ///   - recordings: the digests of the files of its sound.
  ///   - transcript: as for ``all(of:over:)``.
  /// - Returns: who had made it and when; nil if there is none.
  package func removeLast(
    of recordings: [Digest], over transcript: Digest? = nil
  ) throws(SpoolError) -> (author: String, time: String)? {
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        let there = try Self.rows(of: recordings, over: transcript, in: &database)
        guard let last = there.last else { return nil }
        try database.run(
          "DELETE FROM word_corrections WHERE recording = ? AND number = ?",
          [.text(last.recording.hex), .integer(last.number)], to: Self.writing)
        return (last.columns[0].text ?? "", last.columns[1].text ?? "")
      }
    }
  }

  /// How many corrections recordings have.
  static func count(
    of recordings: [Digest], in database: inout Database
  ) throws(SpoolError) -> Int {
    try rows(of: recordings, over: nil, in: &database).count
  }

  /// Removes all corrections of recordings, inside a transaction.
  static func removeAll(
    of recordings: [Digest], in database: inout Database
  ) throws(SpoolError) {
    for recording in recordings {
      try database.run(
        "DELETE FROM word_corrections WHERE recording = ?", [.text(recording.hex)], to: writing)
    }
  }
}
