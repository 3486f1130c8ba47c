internal import PipelineModel

/// Runs as rows.
enum RunTable {
  /// What recording a run is called in errors.
  static let recording = "record a run in"

  /// Writes a run in place of what was recorded of it before. While it is running, it is this
  /// process's.
  static func write(_ run: RunRecord, to database: inout Database) throws(StoreError) {
    let action = recording
    try database.run(
      """
      INSERT INTO runs (id, started_at, state, pipeline, record, owner)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET started_at = excluded.started_at, state = excluded.state,
        pipeline = excluded.pipeline, record = excluded.record, owner = excluded.owner
      """,
      [
        .text(run.id.name), .real(run.startedAt), .text(run.state.rawValue),
        .text(run.pipeline), .text(try StoredJSON.encode(run, to: action)),
        SQLValue(run.state == .running ? ProcessIdentity.current.description : nil),
      ], to: action)
  }
}
