import Glibc

extension FilePath {
  /// Why the user may not access a path, following links; nil if it is possible.
  /// - Parameter mode: of access(2): whether it exists, or `R_OK`, `W_OK`, `X_OK`.
  package static func obstacle(to path: String, _ mode: CInt = F_OK) -> SystemError? {
    unsafe access(path, mode) == 0 ? nil : .last
  }

  /// Whether something is at the path, links followed.
  package static func exists(_ path: String) -> Bool { obstacle(to: path) == nil }

  /// Whether a file may be written. Unlike opening it, this leaves SQLite's locks on it.
  package static func isWritable(_ path: String) -> Bool { obstacle(to: path, W_OK) == nil }

  /// The absolute path without links, `.` and `..`.
  package static func resolved(_ path: String) throws(SystemError) -> String {
    guard let resolved = unsafe realpath(path, nil) else { throw .last }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// The target of a symbolic link as it is written; nil if the path is no link.
  package static func target(ofLink path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink(path, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Sets the modification time of what is at a path, links not followed, to now.
  package static func touch(_ path: String) throws(SystemError) {
    try SystemError.check { unsafe utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) }
  }

  /// Bytes free for an unprivileged user in a folder's file system.
  package static func freeByteCount(inFolder path: String) throws(SystemError) -> Int {
    var status = statvfs()
    try SystemError.check { unsafe statvfs(path, &status) }
    return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
  }
}
