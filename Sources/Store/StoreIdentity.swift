internal import PipelineModel

/// What tells of which store a database is: a name that it was given when it was made, and the runs that
/// it knows. A database that had to be made again has another name, and the same runs.
struct StoreIdentity: Hashable, Sendable {
  private var names: Set<String> = []
  private var runs: Set<String> = []

  /// Whether nothing is known.
  var isUnknown: Bool { names.isEmpty && runs.isEmpty }

  /// How many runs are known.
  var runCount: Int { runs.count }

  /// Reads a database; one from before stores had names has only its runs.
  init(of database: inout Database) throws(StoreError) {
    let action = "tell the store of"
    let runRows = try database.run("SELECT id FROM runs", to: action)
    runs = Set(runRows.compactMap { $0[0].text })
    let isNamed = try !database.run(
      "SELECT 1 FROM sqlite_schema WHERE name = 'identity'", to: action
    ).isEmpty
    guard isNamed else { return }
    let rows = try database.run("SELECT store FROM identity", to: action)
    names = Set(rows.compactMap { $0[0].text })
  }

  /// What is left of a store's own: the database as far as it can be read, and the records beside it.
  init(ofStoreAt layout: StoreLayout, _ records: RecordFolder) {
    if (try? FileStamp(at: layout.database)) != nil,
      var database = try? Database(at: layout.database, for: .reading),
      let known = try? StoreIdentity(of: &database)
    {
      self = known
    }
    let suffix = ".json"
    for path in records.runPaths {
      guard let name = path.split(separator: "/").last, name.hasSuffix(suffix) else { continue }
      runs.insert(String(name.dropLast(suffix.count)))
    }
  }

  /// Whether both may be of one store.
  func isSameStore(as other: StoreIdentity) -> Bool {
    isUnknown || other.isUnknown || !names.isDisjoint(with: other.names)
      || !runs.isDisjoint(with: other.runs)
  }
}
