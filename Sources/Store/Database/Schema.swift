import CTexts
import PipelineModel
import Platform

/// The tables of the store's database, as migration steps: the files in `System/CTexts/Store`. A
/// released step never changes; changes are new steps.
struct Schema: Sendable {
  /// The SQL of each step. A database at version n has gone through the first n.
  let steps: [String]
  /// The shape of a database of each version from 1 on; fails if a step does.
  let shapes: Result<[SchemaShape], SpoolError>

  init(steps: [String]) {
    self.steps = steps
    shapes = Result { () throws(SpoolError) in try SchemaShape.all(of: steps) }
  }

  static let current = unsafe Schema(
    steps: [
      text_schema_checkpoints_and_runs,
      text_schema_export_folder,
      text_schema_work,
      text_schema_run_owners,
      text_schema_origins,
      text_schema_pins,
      text_schema_batches,
      text_schema_recordings,
      text_schema_verification,
      text_schema_change_log,
      text_schema_note_names,
      text_schema_format,
      text_schema_receipts,
      text_schema_claims,
      text_schema_identity,
      text_schema_places,
      text_schema_stamps,
      text_schema_watches,
      text_schema_run_order,
      text_schema_receipt_head,
      text_schema_transcripts,
      text_schema_open_claims,
      text_schema_one_log,
      text_schema_export_owners,
      text_schema_word_corrections,
      text_schema_run_states,
      text_schema_export_sounds,
      text_schema_page_checksums,
      text_schema_warnings,
      text_schema_deliveries,
      text_schema_documents,
      text_schema_delivered_versions,
    ].map { unsafe String(cString: $0) })

  /// The step that records whether a claim waits for a decision.
  static let openClaims = unsafe String(cString: text_schema_open_claims)

  /// Migrates a database in one transaction.
  ///
  /// Throws, and changes nothing, if a newer Spool has written it.
  func migrate(_ database: inout Database, at path: String) throws(SpoolError) {
    if try version(of: &database, path) == steps.count { return }
    try database.transaction(to: "update") { (database) throws(SpoolError) in
      // Read again inside: another process may have migrated it meanwhile.
      let version = try version(of: &database, path)
      if version == steps.count { return }
      for step in steps[version...] { try database.script(step, to: "update") }
      try database.script("PRAGMA user_version = \(steps.count)", to: "update")
      if try Self.hasFormat(&database) {
        try database.run(
          "UPDATE format SET version = ?", [.integer(Int64(steps.count))], to: "update")
      }
    }
  }

  /// Gives every page of a migrated database its checksum, and records that. One of an older format is
  /// written anew, in a transaction; a new one has them. O(size of the database).
  func seal(_ database: inout Database) throws(SpoolError) {
    let action = "add checksums to the pages of"
    guard try Self.isRecordedSealed(&database) == false else { return }
    if CrashPoint.chosen != nil { Database.watchWrites { CrashPoint.chosen?.pass() } }
    defer { Database.watchWrites(nil) }
    guard try database.addPageChecksums(to: action) else { return }
    try database.run("UPDATE format SET has_checksums = 1", to: action)
  }

  /// Whether the tables say that every page has a checksum; nil in a format without.
  static func isRecordedSealed(_ database: inout Database) throws(SpoolError) -> Bool? {
    let column = try database.run(
      "SELECT 1 FROM pragma_table_info('format') WHERE name = 'has_checksums'", to: "read")
    if column.isEmpty { return nil }
    return try database.run("SELECT has_checksums FROM format", to: "read").first?[0].integer == 1
  }

  /// The version of a database; throws if a newer Spool has written it.
  func version(of database: inout Database, _ path: String) throws(SpoolError) -> Int {
    let version = Int(
      try database.run("PRAGMA user_version", to: "open").first?.first?.integer ?? 0)
    guard version <= steps.count else { throw newer(version, path) }
    guard version >= 0 else {
      throw SpoolError(
        "open", path, reason: "its header is damaged: there is no format \(version)",
        advice: "\(command: .repair) makes it again")
    }
    return version
  }
}
