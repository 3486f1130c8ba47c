import CSQLite
import Foundation
import Platform

/// Gives a store's database notes that were never taken in, all in one transaction.
struct KnownNotes {
  /// The path of the database, which nobody else has open.
  let database: String

  /// The key of the note for the path at an index.
  static func key(_ index: Int) -> String {
    let digits = String(index, radix: 16)
    return String(repeating: "0", count: max(0, 12 - digits.count)) + digits
  }

  /// Adds for each of `paths` below the inbox a note like that of the file `original`, and the file as
  /// one that was left where it is.
  func add(_ paths: [String], of original: String, inbox: String) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE
    guard
      unsafe sqlite3_open_v2(database, &handle, flags, Database.fileSystem) == SQLITE_OK,
      let handle = unsafe handle
    else {
      throw BenchmarkError("cannot open the store's database", database)
    }
    defer { unsafe sqlite3_close(handle) }
    func run(_ sql: String) throws {
      guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
        throw BenchmarkError(
          "cannot make notes", unsafe String(cString: sqlite3_errmsg(handle)))
      }
    }
    try run(
      "BEGIN; CREATE TEMP TABLE stamps (n INTEGER PRIMARY KEY, path, inode, size, mtime, ctime)")
    for start in stride(from: 0, to: paths.count, by: 500) {
      let rows = try (start..<min(start + 500, paths.count)).map { index in
        var status = stat()
        guard unsafe lstat(inbox + "/" + paths[index], &status) == 0 else {
          throw BenchmarkError("cannot look at a file", paths[index])
        }
        let times = [status.st_mtim, status.st_ctim].map { $0.tv_sec * 1_000_000_000 + $0.tv_nsec }
        return "(\(index), '\(paths[index])', \(status.st_ino), \(status.st_size), "
          + "\(times[0]), \(times[1]))"
      }
      try run("INSERT INTO stamps VALUES \(rows.joined(separator: ","))")
    }
    try run(
      """
      CREATE TEMP TABLE one AS SELECT notes.* FROM notes
        JOIN note_files ON note = key WHERE path = '\(original)';
      CREATE TEMP TABLE many AS SELECT one.*, n FROM one, stamps;
      UPDATE many SET key = printf('%012x', n), ack_name = printf('%012x', n),
        digest = printf('%064x', n), sound = NULL, file_name = n || '.wav';
      ALTER TABLE many DROP COLUMN n;
      INSERT INTO notes SELECT * FROM many;
      INSERT INTO note_events (note, number, at, state)
        SELECT key, 1, received_at, 'uploaded' FROM many;
      INSERT INTO note_files (note, inbox, role, path, location, inode, byte_count, modified_ns,
        changed_ns, place) SELECT printf('%012x', n), '\(inbox)', 'recording', path, path, inode,
        size, mtime, ctime, 'left' FROM stamps;
      COMMIT
      """)
  }
}
