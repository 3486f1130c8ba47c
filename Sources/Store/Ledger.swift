import Glibc
internal import Hashing
internal import PipelineModel

/// A file beside the database to which every transaction that matters appends a line before it is
/// committed. The database knows how long the file is: where the file is longer, the database has
/// lost something, and the lines say what.
///
/// Notes are written out whole, so that a lost database gives them back, and those with a long history
/// by what changed of them. Of checkpoints and runs,
/// which have records of their own, a line says only which. When it has grown too long, the ledger is
/// begun anew, under the next number, with one line for each note.
struct Ledger: Sendable {
  let records: RecordFolder
  var files: FileOperations { records.files }

  /// How the ledger stands by what the database says.
  struct Standing: Hashable, Sendable {
    /// The number of the ledger's file; 0 where there was none yet.
    var generation: Int64
    /// How many bytes of it the database knows.
    var byteCount: Int64
    /// How many bytes it had when it was begun.
    var firstByteCount: Int64
    /// The number of the last transaction in it.
    var number: Int64
  }

  /// What is appended besides the notes that changed.
  enum Entry: Hashable, Sendable {
    case checkpoint(Checkpoint.Key)
    case run(RunID)
  }

  /// A ledger up to so many bytes is never begun anew.
  private static let smallByteCount: Int64 = 4 << 20
  static let action = "write the ledger of"

  func path(_ generation: Int64) -> String { "\(records.layout.records)/ledger-\(generation)" }

  /// Appends what a transaction has changed, as the last thing before it is committed: durably, unless
  /// a power cut may take the transaction too.
  func append(
    _ entries: [Entry], in database: inout Database, isDurable: Bool = true
  ) throws(StoreError) {
    let owed = try database.run("SELECT kind, name FROM ledger_owed", to: Self.action)
    if owed.isEmpty && entries.isEmpty { return }
    var standing = try Self.standing(in: &database)
    standing.number = try WorkTable.nextNumber(in: &database, to: Self.action)
    let length = (try? FileStamp(at: path(standing.generation)))?.byteCount ?? 0
    let isLong = standing.byteCount > max(Self.smallByteCount, 3 * standing.firstByteCount)
    if standing.generation == 0 || length < standing.byteCount || isLong {
      if standing.generation == 0 { standing.generation = generations.last ?? 0 }
      try begin(&standing, in: &database)
    }
    var lines = entries.map { entry in
      switch entry {
      case .checkpoint(let key):
        LedgerLine(.checkpoint, key.digest.hex, number: standing.number)
      case .run(let run): LedgerLine(.run, run.name, number: standing.number)
      }
    }
    for subject in OwedSubject.all(in: owed) {
      if let line = try subject.line(number: standing.number, in: &database) { lines.append(line) }
    }
    try write(lines, to: &standing, isDurable: isDurable)
    try database.run("DELETE FROM ledger_owed", to: Self.action)
    try Self.record(standing, in: &database)
  }

  /// Whether the database is new enough to know of ledgers.
  static func isThere(in database: inout Database) throws(StoreError) -> Bool {
    try !database.run("SELECT 1 FROM sqlite_schema WHERE name = 'ledger'", to: "read").isEmpty
  }

  /// What the database says of the ledger.
  static func standing(in database: inout Database) throws(StoreError) -> Standing {
    let row = try database.run(
      "SELECT generation, byte_count, first_byte_count, number FROM ledger", to: "read"
    ).first?.map { $0.integer ?? 0 }
    guard let row else {
      return Standing(generation: 0, byteCount: 0, firstByteCount: 0, number: 0)
    }
    return Standing(
      generation: row[0], byteCount: row[1], firstByteCount: row[2], number: row[3])
  }

  static func record(_ standing: Standing, in database: inout Database) throws(StoreError) {
    try database.run(
      "UPDATE ledger SET generation = ?, byte_count = ?, first_byte_count = ?, number = ?",
      [
        .integer(standing.generation), .integer(standing.byteCount),
        .integer(standing.firstByteCount), .integer(standing.number),
      ], to: action)
  }

  /// Begins the ledger anew in place of one that is damaged, which goes.
  func renew(in database: inout Database) throws(StoreError) {
    try database.transaction(to: Self.action) { (database) throws(StoreError) in
      var standing = try Self.standing(in: &database)
      standing.generation = max(standing.generation, generations.last ?? 0)
      standing.number = try WorkTable.nextNumber(in: &database, to: Self.action)
      try begin(&standing, in: &database)
      try database.run("DELETE FROM ledger_owed", to: Self.action)
      try Self.record(standing, in: &database)
    }
    sweep(in: &database)
  }

  /// Begins the ledger anew, inside a transaction, with all notes and commands in it, as the file
  /// behind the one of `standing`.
  func begin(_ standing: inout Standing, in database: inout Database) throws(StoreError) {
    var text = LedgerLine(.head, number: standing.number).text
    let notes = try database.run("SELECT key FROM notes", to: NoteTable.reading)
    let commands = try database.run(
      "SELECT pipeline || char(10) || id FROM note_commands", to: NoteTable.reading)
    let subjects =
      notes.compactMap { $0[0].text.map { OwedSubject(wholeNote: $0) } }
      + commands.compactMap { $0[0].text.map { OwedSubject(command: $0) } }
    for subject in subjects {
      text += try subject.line(number: standing.number, in: &database)?.text ?? ""
    }
    standing.generation += 1
    try records.write(text, to: path(standing.generation))
    standing.byteCount = Int64(text.utf8.count)
    standing.firstByteCount = standing.byteCount
  }

  /// The numbers of the files that are there, the oldest first.
  var generations: [Int64] {
    FolderListing.names(in: records.layout.records).compactMap { name in
      name.hasPrefix("ledger-") ? Int64(name.dropFirst("ledger-".count)) : nil
    }.sorted()
  }

  /// What lies behind the bytes that the database knows was never committed, and makes room.
  private func write(
    _ lines: [LedgerLine], to standing: inout Standing, isDurable: Bool
  ) throws(StoreError) {
    let path = path(standing.generation)
    let bytes = Array(lines.map(\.text).joined().utf8)
    let length = standing.byteCount
    try doing("write the ledger", path) { () throws(SystemError) in
      let file = try files.open(path, O_WRONLY | O_APPEND | O_NOFOLLOW)
      if try file.stamp.byteCount > length { try files.truncate(file, to: Int(length)) }
      try unsafe bytes.span.bytes.withUnsafeBytes { (bytes) throws(SystemError) in
        try unsafe files.write(bytes, to: file)
      }
      if isDurable { try files.flush(file) }
    }
    standing.byteCount += Int64(bytes.count)
  }
}
