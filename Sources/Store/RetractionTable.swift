internal import PipelineModel

/// Acknowledgements that have to go from the outboxes, as rows.
enum RetractionTable {
  /// Records that a note's acknowledgement under a name has to go, inside a transaction.
  static func add(
    _ name: String, _ pipeline: String, in database: inout Database
  ) throws(StoreError) {
    try database.run(
      "INSERT OR IGNORE INTO retracted (pipeline, name) VALUES (?, ?)",
      [.text(pipeline), .text(name)], to: NoteTable.recording)
  }

  /// Records that the name is somebody's again, or that its acknowledgement is gone.
  static func withdraw(
    _ name: String, _ pipeline: String, in database: inout Database
  ) throws(StoreError) {
    try database.run(
      "DELETE FROM retracted WHERE pipeline = ? AND name = ?", [.text(pipeline), .text(name)],
      to: NoteTable.recording)
  }

  /// The names whose acknowledgements have to go.
  static func names(
    pipeline: String, in database: inout Database
  ) throws(StoreError) -> [String] {
    try database.run(
      "SELECT name FROM retracted WHERE pipeline = ? ORDER BY name", [.text(pipeline)],
      to: NoteTable.reading
    ).compactMap { $0[0].text }
  }
}
