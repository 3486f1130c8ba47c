import Glibc
import Platform

extension SpoolError {
  /// The error of a failed system call in the store's folder.
  init(inStore action: String, _ path: String, _ error: SystemError, advice: String? = nil) {
    self.init(
      action, path, reason: error.words,
      advice: advice
        ?? (error.isFullDisk
          ? "free some space, or put the store on another disk with "
            + "\(option: .store)" : error.advice),
      cause: error.isFullDisk ? .fullDisk : .environment)
  }
}

/// Runs system calls that belong to one action of the store, named in their errors.
func doing<Result: ~Copyable>(
  _ action: String, _ path: String, advice: String? = nil,
  _ calls: () throws(SystemError) -> Result
) throws(SpoolError) -> Result {
  do {
    return try calls()
  } catch {
    throw SpoolError(inStore: action, path, error, advice: advice)
  }
}

extension FilePath {
  /// Throws if the folder at `path` exists and is not writable. SQLite reports a missing file on
  /// read-only media.
  static func requireWritable(_ path: String) throws(SpoolError) {
    // The slash asks for a folder; `make` reports a file in its place.
    guard let cause = FilePath.obstacle(to: path + "/", W_OK | X_OK) else { return }
    let way: String
    switch cause.code {
    case EROFS: way = "mount it so that it can be written"
    case EACCES, EPERM: way = "check who owns it and its permissions"
    default: return
    }
    throw SpoolError(
      "write in the store", path, reason: cause.words,
      advice: "\(way), or name another store with \(option: .store); "
        + "\(command: .runs), \(command: .check), status and why read this one as it is")
  }
}
