import Glibc

/// When a file was changed last, how long it is, and which one it is.
struct FileStamp: Hashable {
  private let seconds: Int
  private let nanoseconds: Int
  private let size: Int
  private let node: UInt

  /// Nil where there is no file.
  init?(_ path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    seconds = status.st_mtim.tv_sec
    nanoseconds = status.st_mtim.tv_nsec
    size = Int(status.st_size)
    node = UInt(status.st_ino)
  }
}
