// glibc's structures count as those of whichever module was loaded first.
internal import CPosix
internal import Glibc

/// What tells one version of a file from another without opening it.
public struct FileStamp: Hashable, Sendable {
  /// What stands under a name.
  public enum Kind: UInt8, Hashable, Sendable {
    /// Bytes: the only thing that a recording can be.
    case file
    /// A folder.
    case folder
    /// A symbolic link.
    case link
    /// A named pipe.
    case pipe
    /// A socket.
    case socket
    /// A device.
    case device
  }

  /// The file's length in bytes.
  public let byteCount: Int64
  /// When its bytes were last written, in nanoseconds since 1970. Programs can set it.
  public let modified: Int64
  /// When anything of it last changed, in nanoseconds since 1970. Programs cannot set it.
  public let changed: Int64
  /// Its number on its file system.
  public let inode: UInt64
  /// What it is.
  public let kind: Kind

  /// Makes a stamp of what is known of a file.
  public init(byteCount: Int64, modified: Int64, changed: Int64, inode: UInt64, kind: Kind = .file)
  {
    self.byteCount = byteCount
    self.modified = modified
    self.changed = changed
    self.inode = inode
    self.kind = kind
  }

  init(_ status: stat) {
    byteCount = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
    inode = UInt64(status.st_ino)
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      case S_IFIFO: .pipe
      case S_IFSOCK: .socket
      default: .device
      }
  }
}
