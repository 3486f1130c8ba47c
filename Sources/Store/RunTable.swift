internal import PipelineModel

/// Runs as rows.
enum RunTable {
  /// What recording a run is called in errors.
  static let recording = "record a run in"

  /// Writes a run in place of what was recorded of it before. While it is running, it is this
  /// process's.
  static func write(_ recorded: RecordedRun, to database: inout Database) throws(StoreError) {
    let action = recording
    let run = recorded.run
    try database.run(
      """
      INSERT INTO runs (id, started_at, state, pipeline, record, owner, number)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET started_at = excluded.started_at, state = excluded.state,
        pipeline = excluded.pipeline, record = excluded.record, owner = excluded.owner,
        number = excluded.number
      """,
      [
        .text(run.id.name), .real(run.startedAt), .text(run.state.rawValue),
        .text(run.pipeline), .text(try StoredJSON.encode(run, to: action)),
        SQLValue(run.state == .running ? ProcessIdentity.current.description : nil),
        .integer(recorded.number),
      ], to: action)
  }

  /// The place of a run in the order in which runs were recorded: its own or, for one that is new,
  /// behind all others. To be asked in the transaction that writes it.
  static func number(of run: RunID, in database: inout Database) throws(StoreError) -> Int64 {
    try database.run(
      """
      SELECT coalesce(
        (SELECT number FROM runs WHERE id = ?), max(0, (SELECT max(number) FROM runs)) + 1, 1)
      """, [.text(run.name)], to: recording
    ).first?.first?.integer ?? 1
  }
}
