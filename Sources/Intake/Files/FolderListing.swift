// glibc's structures count as those of whichever module was loaded first.
import CPosix
import Glibc
import Platform

/// The entries of one folder. Opens and reads no file.
struct FolderListing {
  /// The stamps of everything but folders.
  private(set) var files: [FileName: FileStamp]
  private(set) var folders: [FileName] = []

  /// Lists an open folder. O(n).
  ///
  /// - Parameters:
  ///   - expectedCount: about how many files there are.
  ///   - isWanted: whether a name is listed; the stamp is nil for a folder.
  init(
    _ folder: consuming Descriptor, expectedCount: Int = 0,
    isWanted: (_ name: FileName, _ stamp: FileStamp?) -> Bool
  ) throws(SystemError) {
    files = Dictionary(minimumCapacity: expectedCount)
    // The stream takes over a descriptor, and this one has its owner already.
    let number = folder.number
    let own = try SystemError.check { dup(number) }
    guard let stream = unsafe fdopendir(own) else {
      let error = SystemError.last
      close(own)
      throw error
    }
    defer { unsafe closedir(stream) }
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        if errno != 0 { throw .last }
        return
      }
      try unsafe add(entry, of: number, isWanted: isWanted)
    }
  }

  private mutating func add(
    _ entry: UnsafeMutablePointer<dirent>, of folder: CInt,
    isWanted: (_ name: FileName, _ stamp: FileStamp?) -> Bool
  ) throws(SystemError) {
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return }
    let text = unsafe UnsafeRawPointer(entry).advanced(by: offset)
    let count = unsafe strlen(text.assumingMemoryBound(to: CChar.self))
    let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
    // `.` and `..` are no names.
    guard let name = FileName(bytes: unsafe Array(bytes)) else { return }
    var kind = unsafe Int(entry.pointee.d_type)
    var status = stat()
    if kind != DT_DIR {
      let path = unsafe text.assumingMemoryBound(to: CChar.self)
      guard unsafe fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
        // It was removed after it was listed.
        if errno == ENOENT { return }
        throw .last
      }
      if status.st_mode & S_IFMT == S_IFDIR { kind = Int(DT_DIR) }
    }
    let stamp = kind == DT_DIR ? nil : FileStamp(status)
    guard isWanted(name, stamp) else { return }
    if let stamp { files[name] = stamp } else { folders.append(name) }
  }
}

/// Tells one version of a file from another without opening it.
struct FileStamp: Hashable, Sendable {
  enum Kind: UInt8, Hashable, Sendable {
    /// A regular file: the only thing that a recording can be.
    case file
    case folder
    case link
    case pipe
    case socket
    case device
  }

  let byteCount: Int64
  /// Last write, in nanoseconds since 1970. Programs can set it.
  let modified: Int64
  /// Last change of anything, in nanoseconds since 1970. Programs cannot set it.
  let changed: Int64
  /// Its number on its file system.
  let inode: UInt64
  var kind = Kind.file
}

extension FileStamp {
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

/// An open file or folder with one owner, which closes it.
struct Descriptor: ~Copyable, Sendable {
  let number: CInt

  init(_ number: CInt) { self.number = number }

  deinit { close(number) }

  func status() throws(SystemError) -> stat {
    var status = stat()
    let number = number
    try SystemError.check { unsafe fstat(number, &status) }
    return status
  }
}
