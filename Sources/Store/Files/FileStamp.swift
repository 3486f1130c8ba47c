import Glibc
import Platform

/// Identifies a version of a file without reading it.
struct FileStamp: Hashable, Sendable {
  let device: Int64
  let inode: Int64
  let byteCount: Int64
  /// Modification time in nanoseconds since 1970. Programs can set it.
  let modified: Int64
  /// Change time in nanoseconds since 1970. Programs cannot set it.
  let changed: Int64
  private let mode: mode_t
  private let linkCount: UInt64

  init(_ status: stat) {
    device = Int64(bitPattern: UInt64(status.st_dev))
    inode = Int64(bitPattern: UInt64(status.st_ino))
    byteCount = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
    mode = status.st_mode
    linkCount = UInt64(status.st_nlink)
  }

  /// Of the entry at `path`; symbolic links are not followed.
  init(at path: String) throws(SystemError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw .last }
    self.init(status)
  }

  /// Of the entry at `path`; symbolic links are followed.
  init(following path: String) throws(SystemError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw .last }
    self.init(status)
  }

  var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
  var isFolder: Bool { mode & S_IFMT == S_IFDIR }
  /// Whether the file is still linked.
  var hasName: Bool { linkCount > 0 }
  var hasSeveralNames: Bool { linkCount > 1 }
  var isReadOnly: Bool { mode & 0o222 == 0 }

  /// Whether both are of one file, in any version.
  func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }

  /// Whether bytes read between the two stamps are of one version.
  func hasSameBytes(as other: FileStamp) -> Bool {
    isSameFile(as: other) && byteCount == other.byteCount && modified == other.modified
  }

  /// Why it is not a regular file; nil if it is one.
  var complaint: String? {
    switch mode & S_IFMT {
    case S_IFREG: nil
    case S_IFDIR: "it is a folder"
    case S_IFIFO: "it is a pipe"
    case S_IFSOCK: "it is a socket"
    case S_IFLNK: "it is a symbolic link"
    default: "it is a device"
    }
  }
}

enum Clock {
  static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Nanoseconds since boot, sleep included; cannot be set.
  static func sinceBoot() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Nanoseconds that only go forward.
  static func monotonic() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
