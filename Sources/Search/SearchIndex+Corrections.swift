internal import PipelineModel
internal import Platform
internal import Transcripts

/// Corrections in the index: the words of a corrected recording are those with its corrections.
extension SearchIndex {
  /// Makes the texts of recordings again whose corrections have changed since the last update, each in a
  /// transaction.
  /// - Parameters:
  ///   - versions: of each recording with corrections, what changes with them.
  ///   - corrections: those of a recording.
  ///   - bytes: the bytes of an artifact; nil if it is gone.
  /// - Returns: the recordings whose words could not be read.
  mutating func correct(
    _ versions: [String: String], _ corrections: (String) throws(SpoolError) -> [Correction],
    _ bytes: (Artifact) throws(SpoolError) -> [UInt8]?
  ) throws(SpoolError) -> [(name: String, fault: SpoolError)] {
    var rows = try database.run(
      "SELECT \(Self.correctedColumns) FROM sources WHERE correction <> ''", to: Self.filling)
    for recording in versions.keys.sorted() {
      rows += try database.run(
        "SELECT \(Self.correctedColumns) FROM sources WHERE recording = ? AND correction = ''",
        [.text(recording)], to: Self.filling)
    }
    var unread: [(name: String, fault: SpoolError)] = []
    for row in rows {
      guard let recording = row[0].text, row[3].integer != 0,
        row[6].text != versions[recording] ?? "",
        let digest = row[4].text.flatMap(Digest.init(hex:))
      else { continue }
      do throws(SpoolError) {
        let artifact = Artifact(
          kind: .transcript, digest: digest, byteCount: Int(row[5].integer ?? 0))
        guard let bytes = try bytes(artifact),
          let page = try Self.page(bytes, with: corrections(recording))
        else { continue }
        try replace(row, with: page, versions[recording] ?? "")
      } catch {
        unread.append((row[7].text ?? recording, error))
      }
    }
    return unread
  }

  private static let correctedColumns =
    "recording, pipeline, step, text, artifact, byte_count, correction, path"

  private static func page(
    _ bytes: [UInt8], with corrections: [Correction]
  ) throws(SpoolError) -> Page? {
    if corrections.isEmpty { return Page(transcript: bytes) }
    let corrected = CorrectedTranscript(
      try TranscriptFormat.json.read(bytes), with: corrections)
    return Page(transcript: Array(try TranscriptFormat.json.write(corrected.transcript).utf8))
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
