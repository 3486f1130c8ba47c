internal import CTexts
internal import PipelineModel
internal import Platform
internal import Transcripts

/// The words of all transcripts of a store, in a database of its own.
///
/// Each transcript is a row of `texts`, a table of FTS5; `sources` has the recordings that it is of, and
/// `runs` the runs that were looked at. Each run is one transaction: after a crash, the next update takes
/// in the rest.
struct SearchIndex: ~Copyable {
  var database: Database

  static let filling = "index words in"
  private static let advice = Database.Advice(
    damaged: "\(command: .repair) makes the index of words again",
    unreadable:
      "the disk may be failing: dmesg says more; copy the store to another one, and there "
      + "\(command: .repair) makes the index of words again",
    denied: "check who owns the store's folder and its permissions, or choose another with "
      + "\(option: .store)")
  /// The reason for not using an index of another version.
  static let otherVersion = "the index is of another version"
  /// Changes with the tables, and with how words are said.
  private static let version: Int64 = 8

  private static let tables =
    unsafe String(cString: text_search_tables) + "PRAGMA user_version = \(version);"

  /// Opens the index; makes its tables if there are none.
  init(at path: String, for access: Database.Access = .writing) throws(SpoolError) {
    var database = try Database(at: path, for: access, advice: Self.advice)
    if access == .writing {
      unsafe CrashPoint.chosen?.watchCommits(of: database.handle)
      // What a power cut takes is indexed again.
      try database.deferFlushes(to: Self.filling)
      if try Self.version(of: &database) == 0 {
        try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
          // Read again inside: another process may have made them meanwhile.
          guard try Self.version(of: &database) == 0 else { return }
          try database.script(Self.tables, to: Self.filling)
        }
      }
    }
    guard try Self.version(of: &database) == Self.version else {
      throw SpoolError(
        "search", path, reason: Self.otherVersion,
        advice: "\(command: .repair) makes the index of words again")
    }
    self.database = database
  }

  private static func version(of database: inout Database) throws(SpoolError) -> Int64 {
    try database.run("PRAGMA user_version", to: "search").first?.first?.integer ?? 0
  }

  /// The first fault; nil if there is none. Reads the whole index.
  mutating func fault() throws(SpoolError) -> String? {
    let answer = try database.run("PRAGMA quick_check(1)", to: "search")
    if let text = answer.first?.first?.text, text != "ok" { return text }
    do throws(SpoolError) {
      try database.run("INSERT INTO texts (texts) VALUES ('integrity-check')", to: "search")
      return nil
    } catch { return error.reason }
  }

  /// What is known of a run: the numbers in the table.
  enum Progress: Int64 {
    case done, running
    /// A transcript of it could not be read: the next update tries again.
    case unread
  }

  /// Adds the transcripts of the runs that ended since the last update, oldest first.
  /// - Parameter holds: whether the store has an artifact's file.
  /// - Returns: whose words could not be read, which the next update tries again: recordings, or runs.
  mutating func update(
    from log: any RunLog, in store: any ArtifactStore, holds: (Digest) -> Bool = { _ in true }
  ) throws(SpoolError) -> [(name: String, fault: SpoolError)] {
    var runs: [(run: RunRecord, wasUnread: Bool)] = []
    for row in try database.run("SELECT id, is_open FROM runs WHERE is_open", to: Self.filling) {
      guard let name = row[0].text else { continue }
      if let run = try log.run(named: name), run.id.name == name {
        if run.state != .running { runs.append((run, row[1].integer == Progress.unread.rawValue)) }
      } else {
        try Self.note(RunID(name), .done, in: &database)
      }
    }
    for run in try newRuns(in: log) { runs.append((run, false)) }
    var unread = try takeBack(from: store, holds: holds)
    for (run, wasUnread) in runs {
      var own: [(name: String, fault: SpoolError)] = []
      var transcripts: [RunRecord.ToldTranscript] = []
      do throws(SpoolError) {
        if run.state == .done { transcripts = try run.heardTranscripts(in: store) }
      } catch {
        own.append(("run \(run.id)", error))
      }
      try database.transaction(to: Self.filling) { (database) throws(SpoolError) in
        try Self.note(run.id, .running, in: &database)
        for transcript in transcripts {
          let fault = try Self.add(
            transcript, of: run, from: store, holds: holds, unlessNewerIn: wasUnread ? log : nil,
            to: &database)
          if let fault {
            let name = transcript.inputs.first.flatMap { run.inputs[$0] } ?? "run \(run.id)"
            own.append((name, fault))
          }
        }
        let progress = run.state == .running ? Progress.running : own.isEmpty ? .done : .unread
        try Self.note(run.id, progress, in: &database)
      }
      unread += own
    }
    return unread
  }

  /// The runs recorded after the last one that is known, oldest first. Usually reads one run.
  private mutating func newRuns(in log: any RunLog) throws(SpoolError) -> [RunRecord] {
    var limit = 1
    while true {
      let runs = try log.newest(limit: limit)
      for (index, run) in runs.enumerated() {
        let known = try database.run(
          "SELECT 1 FROM runs WHERE id = ?", [.text(run.id.name)], to: Self.filling)
        if !known.isEmpty { return runs[..<index].reversed() }
      }
      if runs.count < limit { return runs.reversed() }
      limit *= 16
    }
  }

  static func note(
    _ run: RunID, _ progress: Progress, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      """
      INSERT INTO runs VALUES (?, ?, (SELECT coalesce(max(number), 0) + 1 FROM runs))
      ON CONFLICT (id) DO UPDATE SET is_open = excluded.is_open
      """, [.text(run.name), .integer(progress.rawValue)], to: filling)
  }

  /// Adds a transcript inside a transaction, in place of what the same step of the same pipeline gave for
  /// the recording before. Skips one that is gone.
  /// - Parameter log: where a later run may be whose words count; nil if this run is the last one.
  /// - Returns: why it cannot be read; nil if it can.
  private static func add(
    _ transcript: RunRecord.ToldTranscript, of run: RunRecord,
    from store: any ArtifactStore, holds: (Digest) -> Bool, unlessNewerIn log: (any RunLog)?,
    to database: inout Database
  ) throws(SpoolError) -> SpoolError? {
    let path = SearchHit.line(of: transcript.inputs.compactMap { run.inputs[$0] })
    let recording = transcript.recording?.hex ?? path
    let key: [SQLValue] = [
      .text(recording), .text(run.pipeline), .text(transcript.heard.step.name),
    ]
    let old = try database.run(
      "SELECT text, run FROM sources WHERE (recording, pipeline, step) = (?, ?, ?)", key,
      to: filling
    ).first
    if let log, let other = old?[1].text, try isRecorded(other, after: run.id, in: log) {
      return nil
    }
    let artifact = transcript.heard.artifact
    var text = try database.run(
      "SELECT text FROM sources WHERE artifact = ? AND text <> 0 AND correction = '' LIMIT 1",
      [.text(artifact.digest.hex)], to: filling
    ).first?[0]
    if text == nil {
      let page: Page?
      do throws(SpoolError) {
        page = try Self.page(of: artifact, in: store, holds: holds)
      } catch {
        return error
      }
      if let page { text = try add(page, to: &database) }
    }
    try database.run(
      """
      INSERT OR REPLACE INTO sources
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT number FROM runs WHERE id = ?7), ?, '', ?)
      """,
      key + [
        text ?? gone, .text(artifact.digest.hex), SQLValue(artifact.byteCount),
        .text(run.id.name), .text(path), .real(run.finishedAt ?? run.startedAt),
        SQLValue(transcript.isAligned ? 1 : 0), .text(transcript.sound?.hex ?? ""),
      ], to: filling)
    if let old { try removeUnlessUsed(old[0], from: &database) }
    return nil
  }

  /// In the place of a text that is gone.
  private static let gone = SQLValue.integer(0)

  /// Adds a text inside a transaction, and gives its number.
  static func add(
    _ page: Page, to database: inout Database
  ) throws(SpoolError) -> SQLValue {
    try database.run(
      "INSERT INTO texts (words, said, times) VALUES (?, ?, ?)",
      [.text(page.words), .text(page.said), .text(page.times)], to: filling)
    return try database.run("SELECT last_insert_rowid()", to: filling).first?[0] ?? gone
  }

  /// Whether a run was recorded later than another one. Reads the runs back to the later of the two.
  private static func isRecorded(
    _ run: String, after other: RunID, in log: any RunLog
  ) throws(SpoolError) -> Bool {
    var limit = 16
    while true {
      let runs = try log.newest(limit: limit)
      if let later = runs.first(where: { $0.id == other || $0.id.name == run }) {
        return later.id != other
      }
      if runs.count < limit { return false }
      limit *= 16
    }
  }

  /// The words of a transcript; nil if it is gone.
  static func page(
    of artifact: Artifact, in store: any ArtifactStore, holds: (Digest) -> Bool
  ) throws(SpoolError) -> Page? {
    guard let bytes = try bytes(of: artifact, in: store, holds: holds) else { return nil }
    return Page(try Transcript(ofStage: bytes))
  }

  /// What an artifact has; nil if it is gone.
  static func bytes(
    of artifact: Artifact, in store: any ArtifactStore, holds: (Digest) -> Bool
  ) throws(SpoolError) -> [UInt8]? {
    guard holds(artifact.digest) else { return nil }
    do throws(SpoolError) {
      let file = try store.path(of: artifact)
      return try doing("read the artifact", file) { () throws(SystemError) in
        try FileOperations.system.bytes(of: file)
      }
    } catch {
      // Meanwhile it was removed, or set aside because it is damaged.
      guard holds(artifact.digest) else { return nil }
      throw error
    }
  }

  /// Removes a text that has no source, inside a transaction.
  static func removeUnlessUsed(
    _ text: SQLValue, from database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "DELETE FROM texts WHERE rowid = ?1 AND NOT EXISTS (SELECT 1 FROM sources WHERE text = ?1)",
      [text], to: filling)
  }
}

/// Searching the index.
extension SearchIndex {
  /// The hits, those of the transcripts first that were indexed last. Reads no more transcripts than
  /// these take.
  mutating func answer(
    _ query: SearchQuery, _ limits: SearchLimits
  ) throws(SpoolError) -> SearchAnswer {
    var answer = SearchAnswer()
    answer.transcripts = Int(
      try database.run("SELECT count(DISTINCT text) FROM sources WHERE text <> 0", to: "search")
        .first?[0].integer
        ?? 0)
    answer.lost = try lost(limits)
    var before = Int64.max
    var limit = 2
    while true {
      var found: [SQLRow] = []
      for expression in query.expressions {
        found += try texts(matching: expression, before: before, limit, limits)
      }
      // No text matches two of the expressions.
      found = Array(
        found.sorted { ($0[0].integer ?? 0) > ($1[0].integer ?? 0) }.prefix(limit))
      for row in found {
        for hit in try hits(in: row, query, limits) {
          if answer.hits.suffix(256).contains(where: { $0.isSamePlace(as: hit) }) { continue }
          guard answer.hits.count < limits.count else {
            answer.hasMore = true
            return answer
          }
          answer.hits.append(hit)
        }
      }
      guard found.count == limit, let last = found.last?[0].integer else { return answer }
      before = last
      limit = min(256, 4 * limit)
    }
  }

  /// The recordings whose best source is gone from the store.
  mutating func lost(_ limits: SearchLimits = SearchLimits()) throws(SpoolError) -> [LostWords] {
    try database.run(
      """
      SELECT path, run FROM sources AS own WHERE text = 0
        AND at >= ?1 AND (?2 IS NULL OR pipeline = ?2) AND \(Self.isBest("?1", "?2"))
      ORDER BY number
      """, [.real(limits.since ?? -1e300), SQLValue(limits.pipeline)], to: "search"
    ).compactMap { row in
      guard let path = row[0].text, let run = row[1].text else { return nil }
      return LostWords(recording: SearchHit.paths(in: path).joined(separator: " + "), run: run)
    }
  }

  /// Whether no better source of the sound of `own` is wanted, in whatever file it is: see the tables.
  private static func isBest(_ since: String, _ pipeline: String) -> String {
    """
    NOT EXISTS (SELECT 1 FROM sources AS other
      WHERE (other.recording = own.recording OR own.sound <> '' AND other.sound = own.sound)
      AND other.at >= \(since) AND (\(pipeline) IS NULL OR other.pipeline = \(pipeline))
      AND (other.is_aligned, other.number) > (own.is_aligned, own.number))
    """
  }

  /// Texts that match an expression, the last first, with their columns in which the matches are marked.
  /// Throws for wrong syntax.
  private mutating func texts(
    matching expression: String, before: Int64, _ limit: Int, _ limits: SearchLimits
  ) throws(SpoolError) -> [SQLRow] {
    let marks = "char(\(Page.Column.opening)), char(\(Page.Column.closing))"
    do throws(SpoolError) {
      return try database.run(
        """
        SELECT rowid, highlight(texts, 0, \(marks)), highlight(texts, 1, \(marks)), times
        FROM texts WHERE texts MATCH ?1 AND rowid < ?2
          AND EXISTS (SELECT 1 FROM sources AS own WHERE text = texts.rowid
            AND at >= ?3 AND (?4 IS NULL OR pipeline = ?4) AND \(Self.isBest("?3", "?4")))
        ORDER BY rowid DESC LIMIT ?5
        """,
        [
          .text(expression), .integer(before), .real(limits.since ?? -1e300),
          SQLValue(limits.pipeline), SQLValue(limit),
        ], to: "search")
    } catch {
      guard error.why.hasPrefix("fts5"), !error.why.contains("corrupt") else { throw error }
      throw SpoolError(
        "the query cannot be read", reason: error.why.replacing("fts5: ", with: ""),
        advice: "AND, OR and NOT stand between words, and parentheses come in pairs: "
          + "(fox OR dog) NOT cat; \"and\" in small letters or in quotes is a word")
    }
  }

  /// The hits of one text, for each recording that it is of.
  private mutating func hits(
    in row: SQLRow, _ query: SearchQuery, _ limits: SearchLimits
  ) throws(SpoolError) -> [SearchHit] {
    guard let words = row[1].text, let said = row[2].text, let times = row[3].text else {
      return []
    }
    let written = Page.Column(words, skipsNumberParts: true)
    let spoken = Page.Column(said, skipsNumberParts: false)
    let lines = written.lines
    guard spoken.lines.count == lines.count,
      let times = Page.times(times, count: lines.count)
    else {
      throw SpoolError(
        "search", database.path, reason: "the times of words are damaged",
        advice: "\(command: .repair) makes the index of words again")
    }
    let matches =
      written.matches
      + spoken.matches.map { match in
        // A number in several words is said in the first of them.
        let end = spoken.lines[(match.upperBound + 1)...].firstIndex { !$0.isEmpty } ?? lines.count
        let silent = lines[match.upperBound + 1..<end].prefix {
          $0.contains { $0.isLetter || $0.isNumber }
        }
        return match.lowerBound...match.upperBound + silent.count
      }
    let places = SearchHit.Place.all(in: matches, distance: query.distance)
    if places.isEmpty { return [] }
    let sources = try database.run(
      """
      SELECT path, run, step, pipeline, max(at), recording, sound FROM sources AS own
      WHERE text = ?1 AND at >= ?2 AND (?3 IS NULL OR pipeline = ?3)
        AND \(Self.isBest("?2", "?3"))
      GROUP BY recording ORDER BY max(at) DESC
      """, [row[0], .real(limits.since ?? -1e300), SQLValue(limits.pipeline)], to: "search")
    return sources.flatMap { source in
      places.map { SearchHit($0, in: lines, times, of: source) }
    }
  }
}
