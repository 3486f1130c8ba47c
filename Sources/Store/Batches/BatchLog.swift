import PipelineModel
package import Platform

/// The results of batches. Methods may be called from any thread. Writes survive a crash, and a
/// power cut once a later durable write is flushed; a lost entry is rebuilt from the exports.
package struct BatchLog: Sendable {
  let database: SharedDatabase
  let layout: StoreLayout

  /// The findings of the steps in a file's report.
  package static let findingsKey = "levels"

  /// All entries of a batch. Checks each file's stamp and reads none: O(n).
  /// - Parameters:
  ///   - batch: identifies the batch.
  ///   - folder: the folder of the entries' paths.
  package func entries(
    of batch: Digest, in folder: String
  ) throws(SpoolError) -> [RecalledBatchEntry] {
    let (files, exports, artifacts) = try database.with { (database) throws(SpoolError) in
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
      if stamp?.isRegularFile != true || stamp?.columns != Array(row[2...]) {
        changed.insert(Array(path.utf8))
      }
    }
    var freed: [[UInt8]: Set<Digest>] = [:]
    for row in artifacts {
      guard let path = row[0].text, let artifact = row[1].text.flatMap(Digest.init(hex:)) else {
        continue
      }
      guard let stamp = try? FileStamp(at: layout.artifact(artifact)) else {
        freed[Array(path.utf8), default: []].insert(artifact)
        continue
      }
      if !row[2...].elementsEqual(VerifiedTable.columns(stamp)) {
        changed.insert(Array(path.utf8))
      }
    }
    // A freed artifact is not needed for existing exports, but words are never freed.
    for row in files {
      guard let path = row[0].text, let missing = freed[Array(path.utf8)],
        let run = row[7].text.flatMap(Self.run(ofReport:)), try hasWords(run, among: missing)
      else { continue }
      changed.insert(Array(path.utf8))
    }
    return files.compactMap { row in
      guard let entry = BatchEntry(row) else { return nil }
      let stamp = try? FileStamp(following: folder + "/" + entry.path)
      return RecalledBatchEntry(
        entry: entry,
        isCurrent: stamp?.columns == Array(row[8...]) && !changed.contains(Array(entry.path.utf8)))
    }
  }

  /// Whether the record of a run names any of these artifacts as a transcript.
  private func hasWords(_ run: String, among artifacts: Set<Digest>) throws(SpoolError) -> Bool {
    let record = try database.with { (database) throws(SpoolError) in
      try RunTable.run(run, in: &database)?.run
    }
    return record?.steps.contains { step in
      step.outputs.values.contains { output in
        output.kind == .transcript && output.artifact.map { artifacts.contains($0.digest) } == true
      }
    } ?? false
  }

  private static func run(ofReport report: String) -> String? {
    (try? JSONReader.value(of: Array(report.utf8), depthLimit: 64).value)?["run"]?.text
  }

  /// Replaces a file's entry.
  /// - Parameters:
  ///   - exports: the paths of its published exports.
  ///   - artifacts: what its run made or reused.
  package func remember(
    _ entry: BatchEntry, of batch: Digest, exports: [String], artifacts: Set<Digest> = []
  ) throws(SpoolError) {
    let action = "record a file of a batch in"
    let key: [SQLValue] = [.text(batch.hex), .text(entry.path)]
    try database.withDeferredFlush(to: action) { (database) throws(SpoolError) in
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

extension BatchLog {
  /// Removes what steps of a run have found from the reports of its batch, which quote words. O(files of
  /// batches).
  static func removeFindings(
    of steps: [String], fromReportsOf run: RunID, in database: inout Database
  ) throws(SpoolError) {
    let action = "forget words in"
    let rows = try database.run(
      "SELECT batch, path, report FROM batch_files WHERE instr(report, ?)", [.text(run.name)],
      to: action)
    for row in rows {
      guard let report = row[2].text,
        case .object(var members)? = try? JSONReader.value(of: Array(report.utf8), depthLimit: 64)
          .value,
        members["run"]?.text == run.name, case .object(var levels)? = members[findingsKey]
      else { continue }
      for step in steps { levels[step] = nil }
      members[findingsKey] = levels.isEmpty ? nil : .object(levels)
      try database.run(
        "UPDATE batch_files SET report = ? WHERE batch = ? AND path = ?",
        [.text(JSONValue.object(members).compact), row[0], row[1]], to: action)
    }
  }
}

/// The stored result of one file of a batch.
package struct BatchEntry: Hashable, Sendable {
  /// The result of the last run on the file.
  package enum State: String, Hashable, Sendable, Codable {
    /// Everything was done, and its exports were in the output folder.
    case done
    case failed
  }

  /// Its path in the batch's folder.
  package let path: String
  /// The digest of its bytes; nil if it was unreadable.
  package let recording: Digest?
  /// The digest of its sidecar; nil if there was none.
  package let sidecar: Digest?
  /// The digest of all else that determines its exports.
  package let settings: Digest
  /// The path of its exports in the output folder, without extension.
  package let name: String
  package let state: State
  /// Its duration in seconds; nil while unknown.
  package let mediaSeconds: Double?
  /// Its report, as JSON.
  package let report: String

  package init(
    path: String, recording: Digest?, sidecar: Digest?, settings: Digest, name: String,
    state: State, mediaSeconds: Double?, report: String
  ) {
    self.path = path
    self.recording = recording
    self.sidecar = sidecar
    self.settings = settings
    self.name = name
    self.state = state
    self.mediaSeconds = mediaSeconds
    self.report = report
  }
}

/// A stored result compared with the disk.
package struct RecalledBatchEntry: Hashable, Sendable {
  package let entry: BatchEntry
  /// Whether the recording, every export and every artifact still in the store are unchanged, by
  /// their stamps.
  package let isCurrent: Bool
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
