package import Glibc

/// Identifies a version of a file without reading it.
package struct FileStamp: Hashable, Sendable {
  package let device: Int64
  package let inode: Int64
  package let byteCount: Int64
  /// Modification time in nanoseconds since 1970. Programs can set it.
  package let modified: Int64
  /// Change time in nanoseconds since 1970. Programs cannot set it.
  package let changed: Int64
  private let mode: mode_t
  /// The number of the user who owns it.
  package let owner: uid_t
  let group: gid_t
  /// The number of hard links.
  package let linkCount: UInt64

  package init(_ status: stat) {
    device = Int64(bitPattern: UInt64(status.st_dev))
    inode = Int64(bitPattern: UInt64(status.st_ino))
    byteCount = Int64(status.st_size)
    modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
    changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
    mode = status.st_mode
    owner = status.st_uid
    group = status.st_gid
    linkCount = UInt64(status.st_nlink)
  }

  /// Of the entry at `path`; symbolic links are not followed.
  package init(at path: String) throws(SystemError) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { throw .last }
    self.init(status)
  }

  /// Of the entry at a path that may be no text; symbolic links are not followed.
  package init(atBytes path: [UInt8]) throws(SystemError) {
    var status = stat()
    let terminated = path.map { CChar(bitPattern: $0) } + [0]
    guard unsafe lstat(terminated, &status) == 0 else { throw .last }
    self.init(status)
  }

  /// Of the entry at `path`; symbolic links are followed.
  package init(following path: String) throws(SystemError) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw .last }
    self.init(status)
  }

  package var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
  package var isFolder: Bool { mode & S_IFMT == S_IFDIR }
  package var isLink: Bool { mode & S_IFMT == S_IFLNK }
  package var isPipe: Bool { mode & S_IFMT == S_IFIFO }
  /// Whether the file is still linked.
  package var hasName: Bool { linkCount > 0 }
  package var hasSeveralNames: Bool { linkCount > 1 }
  package var isReadOnly: Bool { mode & 0o222 == 0 }
  /// Who may do what: 0o644.
  package var permissions: mode_t { mode & 0o777 }

  /// Whether both are of one file, in any version.
  package func isSameFile(as other: FileStamp) -> Bool {
    device == other.device && inode == other.inode
  }

  /// Whether bytes read between the two stamps are of one version.
  package func hasSameBytes(as other: FileStamp) -> Bool {
    isSameFile(as: other) && byteCount == other.byteCount && modified == other.modified
  }

  /// Nanoseconds from `now`, the time since 1970, until any later write changes the stamp; 0 if it
  /// would already. Two writes within one tick of a file system's clock leave the same stamp. Linux
  /// ticks at least a hundred times a second; file systems that keep whole seconds may keep even ones.
  package func settlingTime(at now: Int64) -> Int64 {
    let tick: Int64 = changed % 1_000_000_000 == 0 ? 2_000_000_000 : 20_000_000
    let age = now - changed
    return (0..<tick).contains(age) ? tick - age : 0
  }

  /// Why it is not a regular file; nil if it is one.
  package var complaint: String? {
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

package enum Clock {
  package static func now() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Nanoseconds since boot, sleep included; cannot be set.
  package static func sinceBoot() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Nanoseconds that only go forward.
  package static func monotonic() -> Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// The minute of the day at a time by the clock of the machine's place, from 0 to 1,439.
  /// - Parameter time: in seconds since 1970.
  package static func minuteOfDay(at time: Double) -> Int {
    var time = time_t(time)
    var parts = unsafe tm()
    unsafe localtime_r(&time, &parts)
    return unsafe Int(parts.tm_hour) * 60 + Int(parts.tm_min)
  }
}
