import Glibc
internal import Hashing
internal import PipelineModel

/// Finding out whether a database has lost something, and giving it back.
extension Ledger {
  /// What the ledger says beyond the database.
  enum Surplus {
    /// Nothing.
    case none
    /// These lines were written behind those that the database knows.
    case lines([LedgerLine], upTo: Int64)
    /// The database is older than the ledger as it was begun last, or its ledger is not there: all
    /// that the files say, in order, and all records have to be looked at.
    case everything([LedgerLine])
  }

  /// Compares. Two looks at the folder where nothing is wrong.
  func surplus(in database: inout Database) throws(StoreError) -> Surplus {
    let standing = try Self.standing(in: &database)
    let length = (try? FileStamp(at: path(standing.generation)))?.byteCount
    // A database that knows of none may be a new one, or one made from what is old.
    let hasNext =
      standing.generation == 0
      ? !generations.isEmpty : (try? FileStamp(at: path(standing.generation + 1))) != nil
    if length ?? 0 == standing.byteCount, !hasNext { return .none }
    if !hasNext, let length, length > standing.byteCount {
      let text = LedgerText(try read(standing.generation)[Int(standing.byteCount)...])
      // A line that a dying process left torn is cut off by the next that is written.
      if text.lines.isEmpty { return .none }
      return .lines(text.lines, upTo: standing.byteCount + text.byteCount)
    }
    var lines: [LedgerLine] = []
    for generation in generations { lines += LedgerText(try read(generation)[...]).lines }
    lines.sort { $0.number < $1.number }
    // One that was begun by a transaction that never counted is older than what came after it.
    if let last = lines.last, last.number <= standing.number, length == standing.byteCount {
      return .none
    }
    return .everything(lines)
  }

  /// Gives a database what it lacks, in one transaction. - Returns: what that was.
  func catchUp(
    _ database: inout Database, with rebuild: Rebuild
  ) throws(StoreError) -> CatchUp {
    if case .none = try surplus(in: &database) { return CatchUp() }
    return try database.transaction(to: "read the records into") {
      (database) throws(StoreError) in
      // Again, now that nobody writes: what looked like more may have been somebody's transaction.
      let surplus = try surplus(in: &database)
      var standing = try Self.standing(in: &database)
      var news = CatchUp()
      switch surplus {
      case .none: return news
      case .lines(let lines, let end):
        for line in Self.last(lines) { try rebuild.adopt(line, into: &database, &news) }
        standing.byteCount = end
        standing.number = max(standing.number, lines.last?.number ?? 0)
        try Self.raiseNumber(to: standing.number, in: &database)
      case .everything(let lines):
        let adopted = try rebuild.adoptAll(into: &database)
        (news.checkpoints, news.runs) = adopted
        let isOfNotes = { (line: LedgerLine) in
          [.note, .notePart, .command].contains(line.kind)
        }
        for line in Self.last(lines.filter(isOfNotes)) where line.number > standing.number {
          try rebuild.adopt(line, into: &database, &news)
        }
        try Self.raiseNumber(to: lines.last?.number ?? 0, in: &database)
        standing.number = try WorkTable.nextNumber(in: &database, to: Self.action)
        standing.generation = max(standing.generation, generations.last ?? 0)
        try begin(&standing, in: &database)
      }
      try database.run("DELETE FROM ledger_owed", to: Self.action)
      try Self.record(standing, in: &database)
      return news
    }
  }

  /// What is written from now on is later than all that was found, whatever the clock said when the
  /// counter began, and however much of its counting was lost.
  private static func raiseNumber(
    to number: Int64, in database: inout Database
  ) throws(StoreError) {
    try database.run(
      "UPDATE epochs SET last = max(last, ?)", [.integer(number)], to: Self.action)
  }

  /// The last line about each subject, in order, and all parts of notes that came after the last time
  /// that the note was written out whole.
  private static func last(_ lines: [LedgerLine]) -> [LedgerLine] {
    var seen: Set<String> = []
    return lines.reversed().filter { line in
      let isPart = line.kind == .notePart
      let subject = "\(isPart ? .note : line.kind) \(line.subject)"
      return isPart ? !seen.contains(subject) : seen.insert(subject).inserted
    }.reversed()
  }

  /// Removes the files of ledgers that were begun anew since. Never fails: they are in nobody's way.
  func sweep(in database: inout Database) {
    guard let standing = try? Self.standing(in: &database) else { return }
    for generation in generations where generation < standing.generation {
      try? files.unlink(path(generation))
    }
  }

  /// All bytes of a ledger's file; none where it is gone.
  func read(_ generation: Int64) throws(StoreError) -> [UInt8] {
    let path = path(generation)
    do throws(SystemError) {
      let file = try files.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      var bytes = [UInt8](repeating: 0, count: Int(try file.stamp.byteCount))
      var count = 0
      while count < bytes.count {
        var piece = [UInt8](repeating: 0, count: min(bytes.count - count, 1 << 20))
        let got = try files.read(into: &piece, from: file, at: Int64(count))
        if got == 0 { break }
        bytes.replaceSubrange(count..<count + got, with: piece[..<got])
        count += got
      }
      return Array(bytes[..<count])
    } catch {
      if [ENOENT, EIO, ELOOP].contains(error.code) { return [] }
      throw StoreError("read the ledger", path: path, error)
    }
  }
}
