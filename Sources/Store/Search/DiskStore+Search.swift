import Glibc
import PipelineModel
package import Platform

/// Searching the words of all recordings.
extension DiskStore {
  /// Finds the places where something is said, in the words that the runs of this store have given
  /// times. What ended since the last search is taken in first; an index that is lost or damaged is
  /// made again. In a store that may not be written, what the index has is searched.
  package func search(
    _ query: SearchQuery, _ limits: SearchLimits = SearchLimits()
  ) throws(SpoolError) -> SearchAnswer {
    guard isWritable else {
      guard (try? FileStamp(at: layout.search)) != nil else {
        throw SpoolError(
          "search", path,
          reason: "no words were indexed yet, and nothing may be written here",
          advice: "search where the store may be written, or in a copy of it")
      }
      var index = try SearchIndex(at: layout.search, for: .frozen)
      return try index.hits(query, limits)
    }
    return try withSearchIndex { (index) throws(SpoolError) in
      try catchUp(&index)
      return try index.hits(query, limits)
    }
  }

  /// Takes the words of runs that have ended into the index. What is lost of that is taken in with the
  /// next search: no run fails for it.
  func indexWords(of run: RunRecord) {
    guard run.state == .done, isWritable,
      run.steps.contains(where: { $0.outputs.values.contains { $0.kind == .transcript } })
    else { return }
    do throws(SpoolError) {
      try withSearchIndex { (index) throws(SpoolError) in try catchUp(&index) }
    } catch {
      news.tellOnce("the words of run \(run.id) are not indexed yet: \(error.why)")
    }
  }

  /// Takes out of the index what is not in the store any more.
  func pruneWords() {
    guard isWritable, (try? FileStamp(at: layout.search)) != nil else { return }
    do throws(SpoolError) {
      try withSearchIndex { (index) throws(SpoolError) in
        _ = try index.prune { Digest(hex: $0).map(holdsArtifact) ?? false }
      }
    } catch {
      news.tellOnce("words that are gone are still in the index: \(error.why)")
    }
  }

  /// Looks the index through, makes it again where it is damaged, and adds to the report that it was.
  package func repairWords(for report: inout RepairReport) throws(SpoolError) {
    if let done = try repairWords() { report.actions.append(done) }
  }

  /// - Returns: what was done; nil where the index was whole.
  func repairWords() throws(SpoolError) -> RepairAction? {
    let isThere = (try? FileStamp(at: layout.search)) != nil
    var fault: String?
    do throws(SpoolError) {
      if isThere {
        var index = try SearchIndex(at: layout.search)
        fault = try index.fault()
      }
    } catch {
      if error.isFullDisk { throw error }
      fault = error.reason
    }
    if fault != nil { try DatabaseFiles(path: layout.search, files: files).remove() }
    try withSearchIndex { (index) throws(SpoolError) in
      try catchUp(&index)
      _ = try index.prune { Digest(hex: $0).map(holdsArtifact) ?? false }
    }
    return fault.map {
      RepairAction(what: "make the index of words again: \($0)", path: layout.search, subject: nil)
    }
  }

  private func holdsArtifact(_ digest: Digest) -> Bool {
    (try? FileStamp(at: layout.artifact(digest))) != nil
  }

  /// Opens the index; one that is damaged is made again, once.
  private func withSearchIndex<Result>(
    _ body: (inout SearchIndex) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SpoolError) {
      var index = try SearchIndex(at: layout.search)
      return try body(&index)
    } catch {
      // What stands in the way of any database would stand in the way of a new one too.
      guard error.path == layout.search, !error.isFullDisk, !error.why.contains("locked"),
        unsafe access(layout.search, W_OK) == 0
      else { throw error }
      news.tellOnce(
        error.reason == SearchIndex.otherVersion
          ? "the index of words is of another version, and is made again"
          : "the index of words was damaged, and is made again")
      try DatabaseFiles(path: layout.search, files: files).remove()
      var index = try SearchIndex(at: layout.search)
      try catchUp(&index)
      return try body(&index)
    }
  }

  /// Takes in what the runs tell that ended since the index was last brought up to date. O(n) in these.
  private func catchUp(_ index: inout SearchIndex) throws(SpoolError) {
    var mark = try index.mark()
    let known = try mark.map { (mark) throws(SpoolError) in
      try rows("WHERE id = ?", [.text(mark.run)]).contains { $0[2].integer == mark.number }
    }
    // Another list of runs than the one that was looked through: all of it is new.
    if known != true { mark = nil }
    var found: [SQLRow] = []
    for run in try index.pending() { found += try rows("WHERE id = ?", [.text(run)]) }
    let news = try rows("WHERE number > ?", [.integer(mark?.number ?? -1)])
    let names = Set(news.compactMap { $0[0].text })
    found = found.filter { !names.contains($0[0].text ?? "") } + news
    var pending: [String] = []
    for row in found {
      guard let run: RunRecord = row[1].text.flatMap({ try? StoredJSON.decode($0) }) else {
        continue
      }
      switch run.state {
      case .running:
        if row[3].text.flatMap({ ProcessIdentity($0) })?.isAlive != false {
          pending.append(run.id.name)
        }
      case .done: try add(run, to: &index)
      default: break
      }
    }
    if let last = news.last, let name = last[0].text {
      mark = SearchIndex.Mark(run: name, number: last[2].integer ?? 0)
    }
    try index.record(mark, pending: pending)
  }

  private func add(_ run: RunRecord, to index: inout SearchIndex) throws(SpoolError) {
    let tellings = try withDatabase { (database) throws(SpoolError) in
      try TranscriptSource.all(of: run) { (key) throws(SpoolError) in
        try CheckpointTable.checkpoint(for: key, in: &database)?.components
      }
    }
    for telling in tellings where holdsArtifact(telling.transcript.digest) {
      try index.add(telling) { () throws(SpoolError) in try words(of: telling.transcript) }
    }
  }

  /// The words of a transcript; nil where it is none of Spool's own form.
  private func words(of transcript: Artifact) throws(SpoolError) -> SearchWords? {
    let path = try path(of: transcript)
    let bytes = try doing("read the artifact", path) { () throws(SystemError) in
      let file = try files.open(path, O_RDONLY)
      var bytes = [UInt8](repeating: 0, count: transcript.byteCount)
      let count = bytes.isEmpty ? 0 : try files.read(into: &bytes, from: file, at: 0)
      return Array(bytes[..<count])
    }
    return SearchWords(transcript: bytes)
  }

  private func rows(_ condition: String, _ values: [SQLValue]) throws(SpoolError) -> [SQLRow] {
    try withDatabase { (database) throws(SpoolError) in
      try database.run(
        """
        SELECT id, record, number, owner FROM runs \(condition) ORDER BY number, started_at, id
        """, values, to: "read runs in")
    }
  }
}
