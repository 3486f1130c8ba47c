import Glibc
internal import PipelineModel
import Platform

/// A database and the two files that SQLite keeps beside it.
struct DatabaseFiles: Sendable {
  let path: String
  let files: FileOperations

  private var log: String { path + "-wal" }
  private var index: String { path + "-shm" }

  /// Removes those of the three that exist.
  func remove() throws(SpoolError) {
    for path in [log, index, path] {
      try doing("remove", path) { () throws(SystemError) in try files.unlinkIfThere(path) }
    }
  }

  /// Renames the database and its log, so that the log is not applied to a replacement.
  /// - Parameter word: why it is kept: `damaged`.
  /// - Returns: the new path; nil if there was none.
  func moveAside(_ word: String, now: Int64) throws(SpoolError) -> String? {
    let aside = freeName("\(path).\(word)-\(Self.stamp(now))")
    return try doing("move aside", path) { () throws(SystemError) in
      var isMoved = true
      do throws(SystemError) {
        try files.rename(path, toNew: aside)
      } catch {
        if error.code != ENOENT { throw error }
        isMoved = false
      }
      if let stamp = try? FileStamp(at: log), stamp.byteCount > 0 {
        try files.rename(log, toNew: aside + "-wal")
      } else {
        try files.unlinkIfThere(log)
      }
      try files.unlinkIfThere(index)
      // Flushed before a replacement comes: old and new names must not mix after a power cut.
      try files.flushFolder(FilePath.folder(of: path))
      return isMoved ? aside : nil
    }
  }

  /// Puts a complete, closed database in place.
  func place(_ part: String) throws(SpoolError) {
    try doing("put in place", path) { () throws(SystemError) in
      let file = try files.open(part, O_RDONLY)
      try files.flush(file)
      try files.rename(part, to: path)
      try files.flushFolder(FilePath.folder(of: path))
    }
  }

  private func freeName(_ name: String) -> String {
    var (free, number) = (name, 2)
    while (try? FileStamp(at: free)) != nil {
      free = "\(name)-\(number)"
      number += 1
    }
    return free
  }

  /// `20261121-142205`, in UTC.
  private static func stamp(_ now: Int64) -> String {
    var time = time_t(now / 1_000_000_000)
    var parts = unsafe tm()
    unsafe gmtime_r(&time, &parts)
    func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = unsafe "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
    return unsafe "\(date)-\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))"
  }
}
