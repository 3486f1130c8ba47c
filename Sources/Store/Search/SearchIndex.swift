import CSQLite
import PipelineModel
import Platform

/// The words of all transcripts in the store, to be searched: a database of its own beside the store's.
///
/// All of it follows from runs and artifacts. So it is in no backup, it is made again whenever it is
/// lost or damaged, and one that lacks the last runs takes them in before it is asked.
///
/// `transcripts` holds the words of each transcript, a line each, as they are written and as they are
/// said, with their times as ``SearchWords/times``; `texts` is the full text search over both, whose
/// tokens are counted into words again; `tellings` says of which recording each is.
@safe struct SearchIndex: ~Copyable {
  var database: Database
  let tokenizer: SearchTokenizer

  static let action = "search"
  static let filling = "index words in"
  /// Another number where what is kept, or how text is taken apart, has changed: then it is made anew.
  private static let version: Int64 = 3

  /// Why an index of another version is not used.
  static let otherVersion = "the index is of another version"

  private static let tables = """
    CREATE TABLE transcripts (
      id INTEGER PRIMARY KEY,
      digest TEXT NOT NULL UNIQUE,
      words TEXT NOT NULL,
      said TEXT NOT NULL,
      times TEXT NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE texts USING fts5(
      words, said, content = 'transcripts', content_rowid = 'id', columnsize = 0,
      tokenize = '\(SearchTokenizer.name) \(SearchTokenizer.arguments.joined(separator: " "))');
    CREATE TABLE tellings (
      recording TEXT NOT NULL,
      pipeline TEXT NOT NULL,
      step TEXT NOT NULL,
      transcript INTEGER NOT NULL REFERENCES transcripts (id),
      run TEXT NOT NULL,
      path TEXT NOT NULL,
      name TEXT NOT NULL,
      at REAL NOT NULL,
      PRIMARY KEY (recording, pipeline, step)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tellings_by_transcript ON tellings (transcript);
    CREATE TABLE mark (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      run TEXT NOT NULL,
      number INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE pending (run TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    """

  /// Opens the index, and makes its tables where there are none.
  init(at path: String, for access: Database.Access = .writing) throws(SpoolError) {
    var database = try Database(at: path, for: access)
    guard let api = unsafe sqlite3_fts5_calls(database.handle) else {
      throw SpoolError(
        Self.action, path, reason: "this SQLite has no full text search",
        advice: "install a libsqlite3 with FTS5, as Debian's is")
    }
    guard unsafe SearchPlaces.register(with: api) == SQLITE_OK else {
      throw database.failure(Self.action)
    }
    if access == .writing, try Self.version(of: &database) == 0 {
      try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
        // Read again inside: another process may have made them meanwhile.
        guard try Self.version(of: &database) == 0 else { return }
        try database.script(Self.tables, to: Self.filling)
        try database.script("PRAGMA user_version = \(Self.version)", to: Self.filling)
      }
    }
    guard try Self.version(of: &database) == Self.version else {
      throw SpoolError(Self.action, path, reason: Self.otherVersion)
    }
    tokenizer = try unsafe SearchTokenizer(api, path: path)
    self.database = database
  }

  private static func version(of database: inout Database) throws(SpoolError) -> Int64 {
    try database.run("PRAGMA user_version", to: action).first?.first?.integer ?? 0
  }

  /// What is wrong with it; nil if nothing. Reads all of it.
  mutating func fault() throws(SpoolError) -> String? {
    let answer = try database.run("PRAGMA quick_check(1)", to: Self.action)
    if let text = answer.first?.first?.text, text != "ok" { return text }
    do throws(SpoolError) {
      try database.run("INSERT INTO texts (texts) VALUES ('integrity-check')", to: Self.action)
      return nil
    } catch { return error.reason }
  }

  /// Takes in what a run tells, in one transaction; what the same pipeline told of the recording before
  /// goes. Told twice, it is there once.
  /// - Parameter words: reads the words, where they are not there yet; nil where they cannot be had.
  mutating func add(
    _ telling: TranscriptSource, words: () throws(SpoolError) -> SearchWords?
  ) throws(SpoolError) {
    let digest = SQLValue.text(telling.transcript.digest.hex)
    let isThere = try !database.run(
      "SELECT 1 FROM transcripts WHERE digest = ?", [digest], to: Self.filling
    ).isEmpty
    var news: SearchWords?
    if !isThere {
      guard let words = try words() else { return }
      news = words
      news?.count { tokenizer.tokens(of: $0, isQuery: false) }
    }
    try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
      var id = try Self.id(digest, &database)
      if id == nil, let news {
        let texts = [SQLValue.text(news.text), .text(news.said)]
        try database.run(
          "INSERT INTO transcripts (digest, words, said, times) VALUES (?, ?, ?, ?)",
          [digest] + texts + [.text(news.times)], to: Self.filling)
        id = try Self.id(digest, &database)
        try database.run(
          "INSERT INTO texts (rowid, words, said) VALUES (?, ?, ?)",
          [id.map(SQLValue.integer) ?? .null] + texts, to: Self.filling)
      }
      guard let id else { return }
      try Self.tell(telling, id, &database)
    }
  }

  private static func id(
    _ digest: SQLValue, _ database: inout Database
  ) throws(SpoolError) -> Int64? {
    try database.run("SELECT id FROM transcripts WHERE digest = ?", [digest], to: filling)
      .first?[0].integer
  }

  private static func tell(
    _ telling: TranscriptSource, _ id: Int64, _ database: inout Database
  ) throws(SpoolError) {
    try database.run(
      """
      INSERT INTO tellings (recording, pipeline, step, transcript, run, path, name, at)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
      ON CONFLICT DO UPDATE SET transcript = ?4, run = ?5, path = ?6, name = ?7, at = ?8
      """,
      [
        .text(telling.recording), .text(telling.pipeline), .text(telling.step.name), .integer(id),
        .text(telling.run.name), .text(telling.path), .text(telling.name), .real(telling.time),
      ], to: filling)
    try removeUntold(&database)
  }

  /// Removes the transcripts that no run tells any more, inside a transaction. The full text search
  /// has to be told what it is to forget.
  private static func removeUntold(_ database: inout Database) throws(SpoolError) {
    let untold = """
      FROM transcripts WHERE NOT EXISTS (SELECT 1 FROM tellings WHERE transcript = transcripts.id)
      """
    try database.run(
      "INSERT INTO texts (texts, rowid, words, said) SELECT 'delete', id, words, said \(untold)",
      to: filling)
    try database.run("DELETE \(untold)", to: filling)
  }

  /// Removes the transcripts that are not in the store any more. - Returns: how many.
  mutating func prune(
    unless isThere: (String) -> Bool
  ) throws(SpoolError) -> Int {
    let gone = try database.run("SELECT id, digest FROM transcripts", to: Self.filling)
      .filter { !isThere($0[1].text ?? "") }
    if gone.isEmpty { return 0 }
    try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
      for row in gone {
        try database.run("DELETE FROM tellings WHERE transcript = ?", [row[0]], to: Self.filling)
      }
      try Self.removeUntold(&database)
    }
    return gone.count
  }
}

/// How far the index has looked through the list of runs.
extension SearchIndex {
  /// The newest run that was looked at, and its place in the order of runs.
  struct Mark: Hashable, Sendable {
    let run: String
    let number: Int64
  }

  /// nil where none was looked at.
  mutating func mark() throws(SpoolError) -> Mark? {
    try database.run("SELECT run, number FROM mark", to: Self.action).first.map {
      Mark(run: $0[0].text ?? "", number: $0[1].integer ?? 0)
    }
  }

  /// The runs that were under way when they were looked at.
  mutating func pending() throws(SpoolError) -> [String] {
    try database.run("SELECT run FROM pending ORDER BY run", to: Self.action).compactMap {
      $0[0].text
    }
  }

  /// Notes how far the runs were looked through, and which of them are still under way.
  mutating func record(_ mark: Mark?, pending: [String]) throws(SpoolError) {
    if try mark == self.mark(), try pending.sorted() == self.pending() { return }
    try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
      if let mark {
        try database.run(
          "INSERT OR REPLACE INTO mark (id, run, number) VALUES (1, ?, ?)",
          [.text(mark.run), .integer(mark.number)], to: Self.filling)
      }
      try database.run("DELETE FROM pending", to: Self.filling)
      for run in pending {
        try database.run("INSERT INTO pending VALUES (?)", [.text(run)], to: Self.filling)
      }
    }
  }
}
