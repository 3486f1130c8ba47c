import Glibc

/// When an artifact was last wanted: the time of its file, which nothing else needs, since its bytes
/// never change. What was wanted lately is not freed.
enum LastUse {
  /// How old a note may grow before it is renewed, in nanoseconds: looking must cost next to nothing.
  private static let freshness: Int64 = 600 * 1_000_000_000

  /// Notes that an artifact is wanted now. A store that cannot be written goes without.
  /// - Returns: the stamp that the file has since then; nil if its times are as they were.
  static func note(_ path: String, _ stamp: FileStamp) -> FileStamp? {
    if (0..<freshness).contains(Clock.now() - stamp.modified) { return nil }
    guard unsafe utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    return try? FileStamp(at: path)
  }
}
