import Glibc

/// What tells one version of a file from another without reading it.
struct FileStamp: Hashable, Sendable {
  let device: Int64
  let inode: Int64
  let byteCount: Int64
  /// When its bytes were last written, in nanoseconds since 1970. Programs can set it.
  let modified: Int64
  /// When anything of it last changed, in nanoseconds since 1970. Programs cannot set it.
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

  /// The stamp of what is at `path`; a symbolic link is not followed.
  init(at path: String) throws(SystemError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw .last }
    self.init(status)
  }

  /// The stamp of what is at `path`, at the end of all symbolic links.
  init(following path: String) throws(SystemError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw .last }
    self.init(status)
  }

  var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
  var isFolder: Bool { mode & S_IFMT == S_IFDIR }
  /// Whether a name still leads to it.
  var hasName: Bool { linkCount > 0 }
  /// Whether several names lead to it.
  var hasSeveralNames: Bool { linkCount > 1 }
  /// Whether nobody may write into it.
  var isReadOnly: Bool { mode & 0o222 == 0 }

  /// Whether more than one name leads to it.
  var hasOtherNames: Bool { linkCount > 1 }

  /// Whether both are stamps of one file, changed or not.
  func isSameFile(as other: FileStamp) -> Bool { device == other.device && inode == other.inode }

  /// Whether what was read between the two stamps is one version of the file.
  func hasSameBytes(as other: FileStamp) -> Bool {
    isSameFile(as: other) && byteCount == other.byteCount && modified == other.modified
  }

  /// What it is, where a file of bytes is wanted and it is none.
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
