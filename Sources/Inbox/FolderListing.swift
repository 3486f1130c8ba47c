// glibc's structures count as those of whichever module was loaded first.
internal import Sidecars
internal import CPosix
internal import Glibc

/// What lies in one folder: nothing is opened, nothing is read.
struct FolderListing {
  /// The stamp of everything that is no folder.
  private(set) var files: [FileName: FileStamp]
  /// The folders.
  private(set) var folders: [FileName] = []

  /// Lists an open folder. O(n).
  ///
  /// - Parameters:
  ///   - expectedCount: about how many files there are.
  ///   - isWanted: whether a name is listed at all; the stamp is nil for a folder.
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
        // It left between being listed and being looked at.
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
