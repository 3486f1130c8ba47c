internal import PipelineModel
internal import Platform
internal import Transcripts

/// Corrections in the index: the words of a corrected recording are those with its corrections.
extension SearchIndex {
  /// Makes the texts of recordings again whose corrections have changed since the last update, each in a
  /// transaction. Corrections of a recording are those of every file with its sound.
  /// - Parameters:
  ///   - versions: of each recording with corrections, what changes with them.
  ///   - transcripts: the same of each corrected transcript: those of a sound of several recordings
  ///     count, whatever recording an older version has kept them under.
  ///   - correct: the words of a source with the corrections of recordings; nil if they are gone.
  /// - Returns: the recordings whose words could not be read.
  mutating func correct(
    _ versions: [String: String], transcripts: [String: String] = [:],
    _ correct: (CorrectedSource, _ recordings: [String]) throws(SpoolError) -> Page?
  ) throws(SpoolError) -> [(name: String, fault: SpoolError)] {
    var wanted: [String: Set<String>] = [:]
    for recording in versions.keys {
      for row in try database.run(
        """
        SELECT recording FROM sources WHERE recording = ?1
        UNION SELECT other.recording FROM sources AS own JOIN sources AS other USING (sound)
        WHERE own.recording = ?1 AND sound <> ''
        """, [.text(recording)], to: Self.filling)
      {
        if let same = row[0].text { wanted[same, default: []].insert(recording) }
      }
    }
    for transcript in transcripts.keys {
      for row in try database.run(
        """
        SELECT recording FROM sources
        WHERE artifact = ? AND instr(path, \(SearchHit.separatorInSQL)) > 0
        """, [.text(transcript)], to: Self.filling)
      {
        if let whole = row[0].text { wanted[whole] = wanted[whole] ?? [] }
      }
    }
    var rows = try database.run(
      "SELECT \(Self.correctedColumns) FROM sources WHERE correction <> ''", to: Self.filling)
    for recording in wanted.keys.sorted() {
      rows += try database.run(
        "SELECT \(Self.correctedColumns) FROM sources WHERE recording = ? AND correction = ''",
        [.text(recording)], to: Self.filling)
    }
    var unread: [(name: String, fault: SpoolError)] = []
    for row in rows {
      guard let source = CorrectedSource(row) else { continue }
      let recordings = (wanted[source.recording] ?? []).sorted()
      let over = source.isOfWhole ? transcripts[source.artifact.digest.hex] : nil
      let version = (recordings.compactMap { versions[$0] } + [over].compactMap(\.self))
        .joined(separator: " ")
      if version == row[6].text { continue }
      do throws(SpoolError) {
        guard let page = try correct(source, recordings) else { continue }
        try replace(row, with: page, version)
      } catch {
        unread.append((SearchHit.paths(in: row[7].text ?? source.recording).recordingName, error))
      }
    }
    return unread
  }

  private static let correctedColumns =
    "recording, pipeline, step, text, artifact, byte_count, correction, path, run, is_aligned"

  /// Words in the index, and where they come from.
  struct CorrectedSource {
    let recording: String
    let step: StepID
    let run: String
    let artifact: Artifact
    /// Whether they are of a sound that was made of several recordings.
    let isOfWhole: Bool
    /// Whether they are those of a text that was given.
    let isAligned: Bool

    /// Nil for words that are gone.
    fileprivate init?(_ row: SQLRow) {
      guard let recording = row[0].text, let step = row[2].text, row[3].integer != 0,
        let digest = row[4].text.flatMap(Digest.init(hex:)), let run = row[8].text
      else { return nil }
      (self.recording, self.step, self.run) = (recording, StepID(step), run)
      artifact = Artifact(
        kind: .transcript, digest: digest, byteCount: Int(row[5].integer ?? 0))
      isOfWhole = SearchHit.paths(in: row[7].text ?? "").count > 1
      isAligned = row[9].integer == 1
    }
  }

  private mutating func replace(
    _ row: SQLRow, with page: Page, _ version: String
  ) throws(SpoolError) {
    try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
      let text = try Self.add(page, to: &database)
      try database.run(
        """
        UPDATE sources SET text = ?, correction = ? WHERE (recording, pipeline, step) = (?, ?, ?)
        """, [text, .text(version), row[0], row[1], row[2]], to: Self.filling)
      try Self.removeUnlessUsed(row[3], from: &database)
    }
  }
}
