import PipelineModel
package import Platform

/// Batch results. The stamps of recordings and exports are those of `digests` and `published`: a
/// row here is valid while those are.
extension DiskStore: BatchLog {
  /// Three queries, and a stat of each file.
  package func entries(
    of batch: Digest, in folder: String
  ) throws(SpoolError) -> [RecalledBatchEntry] {
    let (files, exports, artifacts) = try withDatabase { (database) throws(SpoolError) in
      (
        try database.run(
          """
          SELECT f.path, f.recording, f.sidecar, f.settings, f.name, f.state, f.media_seconds,
            f.report, d.device, d.inode, d.byte_count, d.modified_ns, d.changed_ns
          FROM batch_files AS f
          LEFT JOIN digests AS d ON d.path = ? || f.path AND substr(d.digest, -64) = f.recording
          WHERE f.batch = ?
          """, [.text(FilePath.absolute(folder) + "/"), .text(batch.hex)], to: "read a batch in"),
        try database.run(
          """
          SELECT e.path, e.export, p.device, p.inode, p.byte_count, p.modified_ns, p.changed_ns
          FROM batch_exports AS e
          LEFT JOIN published AS p ON p.path = e.export AND p.content = e.content
          WHERE e.batch = ?
          """, [.text(batch.hex)], to: "read a batch in"),
        try database.run(
          """
          SELECT a.path, a.artifact, v.inode, v.byte_count, v.modified_ns, v.changed_ns
          FROM batch_artifacts AS a LEFT JOIN verified AS v USING (artifact) WHERE a.batch = ?
          """, [.text(batch.hex)], to: "read a batch in")
      )
    }
    // By the bytes of the path: names that look alike may differ.
    var changed: Set<[UInt8]> = []
    for row in exports {
      guard let path = row[0].text, let export = row[1].text else { continue }
      let stamp = try? FileStamp(at: export)
      if stamp?.isRegularFile != true || stamp?.columns != row[2...] {
        changed.insert(Array(path.utf8))
      }
    }
    for row in artifacts {
      guard let path = row[0].text, let artifact = row[1].text.flatMap(Digest.init(hex:)),
        // A freed artifact is not needed for existing exports.
        let stamp = try? FileStamp(at: layout.artifact(artifact))
      else { continue }
      if !row[2...].elementsEqual(VerifiedTable.columns(stamp)) {
        changed.insert(Array(path.utf8))
      }
    }
    return files.compactMap { row in
      guard let entry = BatchEntry(row) else { return nil }
      let stamp = try? FileStamp(following: folder + "/" + entry.path)
      return RecalledBatchEntry(
        entry: entry,
        isCurrent: stamp?.columns == row[8...] && !changed.contains(Array(entry.path.utf8)))
    }
  }

  /// Records a file's entry with its exports' published content and its run's artifacts.
  package func remember(
    _ entry: BatchEntry, of batch: Digest, exports: [String], artifacts: Set<Digest> = []
  ) throws(SpoolError) {
    let action = "record a file of a batch in"
    let key: [SQLValue] = [.text(batch.hex), .text(entry.path)]
    try withDeferringDatabase(to: action) { (database) throws(SpoolError) in
      try database.transaction(to: action) { (database) throws(SpoolError) in
        try database.run(
          "DELETE FROM batch_files WHERE batch = ? AND path = ?", key, to: action)
        try database.run(
          """
          INSERT INTO batch_files (batch, path, recording, sidecar, settings, name, state,
            media_seconds, report) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
          key + [
            SQLValue(entry.recording?.hex), SQLValue(entry.sidecar?.hex),
            .text(entry.settings.hex), .text(entry.name), .text(entry.state.rawValue),
            entry.mediaSeconds.map(SQLValue.real) ?? .null, .text(entry.report),
          ], to: action)
        for artifact in artifacts {
          try database.run(
            "INSERT INTO batch_artifacts (batch, path, artifact) VALUES (?, ?, ?)",
            key + [.text(artifact.hex)], to: action)
        }
        for export in exports {
          // Without a publication there is no content, and the file is processed again.
          try database.run(
            """
            INSERT OR REPLACE INTO batch_exports (batch, path, export, content)
            VALUES (?, ?, ?3, coalesce((SELECT content FROM published WHERE path = ?3), ''))
            """, key + [.text(FilePath.absolute(export))], to: action)
        }
      }
    }
  }
}

extension BatchEntry {
  /// Nil for a row of another version.
  fileprivate init?(_ row: SQLRow) {
    guard let path = row[0].text, let settings = row[3].text.flatMap(Digest.init(hex:)),
      let name = row[4].text, let state = row[5].text.flatMap(State.init(rawValue:)),
      let report = row[7].text
    else { return nil }
    self.init(
      path: path, recording: row[1].text.flatMap(Digest.init(hex:)),
      sidecar: row[2].text.flatMap(Digest.init(hex:)), settings: settings, name: name,
      state: state, mediaSeconds: row[6].real, report: report)
  }
}

extension FileStamp {
  fileprivate var columns: ArraySlice<SQLValue> {
    [device, inode, byteCount, modified, changed].map(SQLValue.integer)[...]
  }
}
