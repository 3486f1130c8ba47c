internal import PipelineModel
import Platform

/// Runs as rows.
enum RunTable {
  static let recordAction = "record a run in"

  /// Replaces a run's row. A running run belongs to this process.
  static func write(_ recorded: RecordedRun, to database: inout Database) throws(SpoolError) {
    let action = recordAction
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

  /// The run of this name; nil if there is none, or its row is unreadable.
  static func run(
    _ name: String, in database: inout Database
  ) throws(SpoolError) -> RecordedRun? {
    let row = try database.run(
      "SELECT record, number FROM runs WHERE id = ?", [.text(name)], to: "read runs in"
    ).first
    guard let row, let run: RunRecord = row[0].text.flatMap({ try? StoredJSON.decode($0) }),
      run.id.name == name
    else { return nil }
    return RecordedRun(run, number: row[1].integer ?? 0)
  }

  /// The words and receipts that readable runs name. O(runs).
  static func permanentArtifacts(in database: inout Database) throws(SpoolError) -> Set<Digest> {
    let rows = try database.run("SELECT record FROM runs", to: "read runs in")
    return Set(
      rows.flatMap { row in
        let run: RunRecord? = row[0].text.flatMap { try? StoredJSON.decode($0) }
        return run?.permanentArtifacts ?? []
      })
  }

  /// Marks running runs as interrupted, inside a transaction; if a run's process is alive, its next
  /// write corrects that.
  static func cutOffAll(in database: inout Database) throws(SpoolError) {
    let rows = try database.run(
      "SELECT id FROM runs WHERE state = ?", [.text(RunRecord.State.running.rawValue)],
      to: recordAction)
    for row in rows {
      guard let id = row[0].text, let recorded = try run(id, in: &database) else { continue }
      var run = recorded.run
      run.state = .cutOff
      try write(RecordedRun(run, number: recorded.number), to: &database)
    }
  }

  /// The runs that have stopped in the middle of their work although the recording that they took
  /// from an inbox needs none: it is uploaded, or waits for another one of the same sound.
  /// - Parameter folder: begins the paths of inputs from inboxes.
  static func unneeded(
    below folder: String, in database: inout Database
  ) throws(SpoolError) -> [RecordedRun] {
    let action = "read runs in"
    let rows = try database.run(
      """
      SELECT record, number, owner FROM runs
      WHERE state IN ('running', 'cut-off', 'interrupted', 'paused')
      """, to: action)
    var runs: [RecordedRun] = []
    for row in rows {
      if row[2].text.flatMap({ ProcessIdentity($0) })?.isAlive == true { continue }
      guard let run: RunRecord = row[0].text.flatMap({ try? StoredJSON.decode($0) }),
        let input = run.inputs.first(where: { $0.value.hasPrefix(folder) })?.key,
        let recording = run.recordings?[input]
      else { continue }
      let isUnneeded = try !database.run(
        """
        SELECT 1 FROM notes WHERE digest = ? AND pipeline = ?
          AND (state = 'uploaded' OR original IS NOT NULL)
        """, [.text(recording.hex), .text(run.pipeline)], to: action
      ).isEmpty
      if isUnneeded { runs.append(RecordedRun(run, number: row[1].integer ?? 0)) }
    }
    return runs
  }

  /// A run's position in the order of recording: its own, or for a new one the next. Call it in the
  /// transaction that writes it.
  static func number(of run: RunID, in database: inout Database) throws(SpoolError) -> Int64 {
    try database.run(
      """
      SELECT coalesce(
        (SELECT number FROM runs WHERE id = ?), max(0, (SELECT max(number) FROM runs)) + 1, 1)
      """, [.text(run.name)], to: recordAction
    ).first?.first?.integer ?? 1
  }
}

/// A run and its position in the order of recording, which is independent of the clock.
struct RecordedRun: Hashable, Sendable, Codable {
  let run: RunRecord
  /// From 1; 0 for a run recorded before runs were numbered, ordered by time.
  let number: Int64

  private enum CodingKeys: String, CodingKey {
    case number
  }

  init(_ run: RunRecord, number: Int64) {
    self.run = run
    self.number = number
  }

  /// The number is a member of the run's JSON, so that records without one are readable.
  init(from decoder: any Decoder) throws {
    run = try RunRecord(from: decoder)
    number =
      try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Int64.self, forKey: .number)
      ?? 0
  }

  func encode(to encoder: any Encoder) throws {
    try run.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(number, forKey: .number)
  }

  /// Whether it precedes another: without numbers, or with equal ones, by time.
  static func isBefore(_ one: RecordedRun, _ other: RecordedRun) -> Bool {
    (one.number, one.run.startedAt, one.run.id.name)
      < (other.number, other.run.startedAt, other.run.id.name)
  }
}
