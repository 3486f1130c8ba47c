internal import Glibc

/// The kernel's line of events about watched folders.
struct Inotify: ~Copyable {
  private let queue: Descriptor
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  /// Opens an empty line.
  init() throws(SystemError) {
    queue = Descriptor(
      try SystemError.check { inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC)) })
  }

  /// What to poll(2) for events.
  var descriptor: CInt { queue.number }

  /// Watches an open folder; the same number again where it is watched already.
  ///
  /// The folder is named by its descriptor, so that nobody can put a link in its place first.
  mutating func watch(_ folder: borrowing Descriptor) throws(SystemError) -> CInt {
    let path = "/proc/self/fd/\(folder.number)"
    let number = queue.number
    return try SystemError.check { unsafe inotify_add_watch(number, path, Self.interests) }
  }

  /// Watches a folder no longer. Its last event is `IN_IGNORED`.
  mutating func unwatch(_ watch: CInt) { _ = inotify_rm_watch(queue.number, watch) }

  /// What has happened since the last call, without waiting; a bounded number of events, so that a
  /// flood does not keep the caller here.
  mutating func records() -> [InotifyRecord] {
    var records: [InotifyRecord] = []
    while records.count < 4096 {
      let number = queue.number
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe read(number, bytes.baseAddress, bytes.count)
      }
      guard count > 0 else { break }
      records += InotifyRecord.records(in: buffer[..<count])
    }
    return records
  }

  /// Writing is an interest because a file that was written to and not closed has a writer, also
  /// where leases do not tell because the file is somebody else's.
  private static let interests =
    UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_CREATE)
    | UInt32(IN_DELETE)
    | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)
}
