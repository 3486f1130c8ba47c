// glibc's structures count as those of whichever module was loaded first.
import CPosix
import Glibc
import Platform

// All calls relative to an open folder are here. Platform's take paths, in which another program can
// replace a folder by a link between two calls.

extension InboxFolder {
  /// Opens a path beneath a folder: follows no link and reaches nothing outside, even while folders
  /// are replaced by links.
  enum Opening: Sendable {
    /// By openat2(2) (Linux 5.6).
    case kernel
    /// Name by name, each without following a link: for older kernels and for containers that forbid
    /// unknown calls.
    case stepwise

    /// Opens `path` with the flags of open(2), relative to an open folder.
    func open(_ folder: CInt, _ path: InboxPath, _ flags: CInt) throws(SystemError) -> OpenFile {
      // With O_PATH, openat2(2) takes no flag for opened files.
      let isOpened = flags & posix_path_only() == 0
      let flags = flags | O_CLOEXEC | O_NOFOLLOW | (isOpened ? O_NOCTTY : 0)
      switch self {
      case .kernel: return try openByKernel(folder, path, flags)
      case .stepwise: return try openByName(folder, path, flags)
      }
    }

    private func openByKernel(
      _ folder: CInt, _ path: InboxPath, _ flags: CInt
    ) throws(SystemError) -> OpenFile {
      // EAGAIN: a rename meanwhile made the kernel unsure.
      for _ in 0..<8 {
        let number = unsafe path.withCString { unsafe posix_open_beneath(folder, $0, flags) }
        if number >= 0 { return OpenFile(descriptor: number, path: path.description) }
        let error = SystemError.last
        switch error.code {
        case EAGAIN, EINTR: continue
        case ENOSYS, EPERM: return try openByName(folder, path, flags)
        default: throw error
        }
      }
      throw SystemError(EAGAIN)
    }

    private func openByName(
      _ folder: CInt, _ path: InboxPath, _ flags: CInt
    ) throws(SystemError) -> OpenFile {
      var names = path.names
      guard let last = names.popLast() else { return try openNext(folder, .inbox, flags) }
      let passing = posix_path_only() | O_NOFOLLOW | O_CLOEXEC
      var parent = try openNext(folder, .inbox, passing)
      for name in names {
        parent = try openNext(parent.descriptor, InboxPath.inbox.appending(name), passing)
        if try parent.stamp.isLink { throw SystemError(ELOOP) }
      }
      return try openNext(parent.descriptor, InboxPath.inbox.appending(last), flags)
    }

    /// Opens one name, which is no path.
    private func openNext(
      _ folder: CInt, _ name: InboxPath, _ flags: CInt
    ) throws(SystemError) -> OpenFile {
      let number = try SystemError.check {
        unsafe name.withCString { unsafe openat(folder, $0, flags) }
      }
      return OpenFile(descriptor: number, path: name.description)
    }
  }
}

/// The calls that change an open folder, whose names are no paths.
extension OpenFile {
  /// Makes a folder, unless the name exists.
  func makeFolder(_ name: FileName) throws(SystemError) {
    do throws(SystemError) {
      try unsafe call(name) { unsafe mkdirat($0, $1, 0o777) }
    } catch {
      if error.code != EEXIST { throw error }
    }
  }

  /// Makes a new file for writing.
  func makeFile(_ name: FileName) throws(SystemError) -> OpenFile {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let made = try unsafe call(name) { unsafe posix_open_at($0, $1, flags, 0o666) }
    return OpenFile(descriptor: made, path: name.description)
  }

  /// Renames a file into another open folder, or this one; replaces the target.
  func rename(
    _ name: FileName, to target: FileName, in folder: borrowing OpenFile
  ) throws(SystemError) {
    try unsafe call(name, target, in: folder) { unsafe renameat($0, $1, $2, $3) }
  }

  /// The same, unless the target exists.
  /// - Returns: false if it does.
  func rename(
    _ name: FileName, toNew target: FileName, in folder: borrowing OpenFile
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      do throws(SystemError) {
        try unsafe call(name, target, in: folder) { unsafe posix_rename_new_at($0, $1, $2, $3) }
      } catch {
        guard [EINVAL, ENOSYS].contains(error.code) else { throw error }
        // A file system without this flag can still create a second name, which never replaces
        // one.
        try unsafe call(name, target, in: folder) { unsafe linkat($0, $1, $2, $3, 0) }
        try unsafe call(name) { unsafe unlinkat($0, $1, 0) }
      }
      return true
    } catch {
      if error.code == EEXIST { return false }
      throw error
    }
  }

  /// Removes a file, if it exists.
  func unlinkIfThere(_ name: FileName) throws(SystemError) {
    do throws(SystemError) {
      try unsafe call(name) { unsafe unlinkat($0, $1, 0) }
    } catch {
      if error.code != ENOENT { throw error }
    }
  }

  /// Waits for the lock, which this descriptor holds from then on. On a file system without locks,
  /// one user has to be enough.
  func waitForLock() {
    let number = descriptor
    _ = try? SystemError.check { flock(number, LOCK_EX) }
  }

  /// Whether another process has locked the folder.
  var isLockedByAnother: Bool {
    guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else {
      unlock()
      return false
    }
    return errno == EWOULDBLOCK
  }

  /// Opens a folder by a way from this one, such as `..`.
  func openFolder(_ way: String) throws(SystemError) -> OpenFile {
    try OpenFile(way, in: self, O_RDONLY | O_DIRECTORY)
  }

  @discardableResult
  private func call(
    _ name: FileName, _ body: (_ folder: CInt, UnsafePointer<CChar>) -> CInt
  ) throws(SystemError) -> CInt {
    let number = descriptor
    return try SystemError.check {
      unsafe InboxPath.inbox.appending(name).withCString { unsafe body(number, $0) }
    }
  }

  private func call(
    _ name: FileName, _ target: FileName, in folder: borrowing OpenFile,
    _ body: (CInt, UnsafePointer<CChar>, CInt, UnsafePointer<CChar>) -> CInt
  ) throws(SystemError) {
    let other = folder.descriptor
    try unsafe call(name) { number, name in
      unsafe InboxPath.inbox.appending(target).withCString { unsafe body(number, name, other, $0) }
    }
  }
}

/// The entries of one folder. Opens and reads no file.
struct FolderListing {
  /// The stamps of everything but folders.
  private(set) var files: [FileName: FileStamp]
  private(set) var folders: [FileName] = []

  /// Lists an open folder. O(n).
  ///
  /// - Parameters:
  ///   - expectedCount: about how many files there are.
  ///   - skipsUnreadable: whether an entry without a readable stamp is left out; else it is an error.
  ///   - isWanted: whether a name is listed; the stamp is nil for a folder.
  init(
    _ folder: borrowing OpenFile, expectedCount: Int = 0, skipsUnreadable: Bool = false,
    isWanted: (_ name: FileName, _ stamp: FileStamp?) -> Bool
  ) throws(SystemError) {
    files = Dictionary(minimumCapacity: expectedCount)
    // The stream takes over a descriptor, and this one has its owner already.
    let number = folder.descriptor
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
      do throws(SystemError) {
        try unsafe add(entry, of: number, isWanted: isWanted)
      } catch {
        if !skipsUnreadable { throw error }
      }
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
