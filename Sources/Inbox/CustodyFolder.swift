internal import Sidecars
internal import CPosix
internal import Glibc
internal import Synchronization

/// An open inbox or outbox in which custody moves and writes files. Like everything beneath an
/// inbox they are reached without following any link.
struct CustodyFolder: ~Copyable {
  private let folder: InboxFolder
  private let calls: CustodyCalls

  init(at path: String, calls: CustodyCalls) throws(CustodyError) {
    folder = try inInbox { () throws(InboxError) in try InboxFolder(at: path) }
    self.calls = calls
  }

  /// Makes a folder that a user named, and those above it, where they are missing.
  static func make(_ path: String) throws(CustodyError) {
    let names = path.split(separator: "/")
    for count in 1...max(1, names.count) {
      let folder = (path.hasPrefix("/") ? "/" : "") + names.prefix(count).joined(separator: "/")
      if unsafe mkdir(folder, 0o777) != 0, errno != EEXIST, count == names.count {
        throw CustodyError("make the folder", path, .last)
      }
    }
  }

  /// The stamp of whatever lies at a path; nil where nothing does.
  func stamp(of path: InboxPath) throws(CustodyError) -> FileStamp? {
    try inInbox { () throws(InboxError) in try folder.stamp(of: path) }
  }

  /// Opens a file for reading.
  func open(_ path: InboxPath) throws(CustodyError) -> ArrivedFile {
    try inInbox { () throws(InboxError) in try folder.open(path) }
  }

  /// Makes a folder and those above it, where they are missing, and flushes their names.
  func makeFolder(_ path: InboxPath) throws(CustodyError) {
    var made = InboxPath.inbox
    for name in path.names {
      let above = made
      made = above.appending(name)
      if let stamp = try stamp(of: made), stamp.kind == .folder { continue }
      try doing("make the folder", made) { () throws(SystemError) in
        let parent = try openFolder(above)
        try calls.willPerform(.makeFolder(made))
        do throws(SystemError) {
          try SystemError.check {
            unsafe InboxPath.inbox.appending(name).withCString {
              unsafe mkdirat(parent.number, $0, 0o777)
            }
          }
        } catch {
          if error.code != EEXIST { throw error }
        }
        try flush(parent, above)
      }
    }
  }

  /// Gives a file another name, unless something has it already.
  /// - Returns: false if something has.
  func move(_ source: InboxPath, toNew target: InboxPath) throws(CustodyError) -> Bool {
    try doing("move", source) { () throws(SystemError) in
      let from = try openFolder(source.folder)
      let to = try openFolder(target.folder)
      try calls.willPerform(.move(from: source, to: target))
      do throws(SystemError) {
        try unsafe call(source, target) {
          unsafe posix_rename_new_at(from.number, $0, to.number, $1)
        }
      } catch {
        switch error.code {
        case EEXIST: return false
        case EINVAL, ENOSYS:
          // A file system that cannot promise this can still make a second name, which does.
          do throws(SystemError) {
            try unsafe call(source, target) { unsafe linkat(from.number, $0, to.number, $1, 0) }
          } catch {
            if error.code == EEXIST { return false }
            throw error
          }
          try unsafe call(source, target) { source, _ in unsafe unlinkat(from.number, source, 0) }
        default: throw error
        }
      }
      return true
    }
  }

  /// Waits until the names in a folder are on the disk.
  func flushFolder(_ path: InboxPath) throws(CustodyError) {
    try doing("flush", path) { () throws(SystemError) in try flush(try openFolder(path), path) }
  }

  /// Removes a file; nothing happens where there is none.
  func remove(_ path: InboxPath) throws(CustodyError) {
    try doing("remove", path) { () throws(SystemError) in
      let parent = try openFolder(path.folder)
      try calls.willPerform(.remove(path))
      do throws(SystemError) {
        try unsafe call(path, path) { path, _ in unsafe unlinkat(parent.number, path, 0) }
      } catch {
        if error.code != ENOENT { throw error }
      }
    }
  }

  /// Writes a whole file in place of an older one: under a name of its own first, flushed, then
  /// renamed. The folder itself is not flushed.
  func write(_ text: String, to target: InboxPath) throws(CustodyError) {
    let unique = String(UInt64.random(in: .min ... .max), radix: 36)
    let name = "\(Self.temporaryPrefix)\(getpid())-\(unique).tmp"
    guard let temporary = InboxPath(name) else { return }
    Self.underWay.withLock { _ = $0.insert(name) }
    defer { Self.underWay.withLock { _ = $0.remove(name) } }
    do throws(CustodyError) {
      try doing("write", target) { () throws(SystemError) in
        try fill(temporary, with: Array(text.utf8))
        let from = try openFolder(.inbox)
        let to = try openFolder(target.folder)
        try calls.willPerform(.replace(from: temporary, to: target))
        try unsafe call(temporary, target) { unsafe renameat(from.number, $0, to.number, $1) }
      }
    } catch {
      try? remove(temporary)
      throw error
    }
  }

  /// Removes what a process that died was writing. Several inboxes may share the folder: what this
  /// process is writing now, or another one that is alive has just begun, is renamed in a moment.
  func sweep() throws(CustodyError) {
    let files = try files {
      $0.text?.hasPrefix(Self.temporaryPrefix) == true && $0.hasSuffix(".tmp")
    }
    let now = Int64(time(nil)) * 1_000_000_000
    for (name, stamp) in files {
      let isRecent = abs(now - stamp.changed) < Self.writingTime
      if isRecent, let process = Self.writer(of: name), Self.isWriting(process, name) { continue }
      try remove(InboxPath.inbox.appending(name))
    }
  }

  /// Longer than any small file takes to be written, in nanoseconds.
  private static let writingTime: Int64 = 600_000_000_000

  /// The temporary files that this process is writing, in any folder.
  private static let underWay = Mutex<Set<String>>([])

  private static func isWriting(_ process: pid_t, _ name: FileName) -> Bool {
    guard process != getpid() else {
      return underWay.withLock { $0.contains(name.text ?? "") }
    }
    return kill(process, 0) == 0 || errno == EPERM
  }

  /// The process that a temporary file is named after.
  private static func writer(of name: FileName) -> pid_t? {
    name.text?.dropFirst(temporaryPrefix.count).split(separator: "-").first.flatMap { pid_t($0) }
  }

  /// The files in the folder itself whose names are wanted.
  func files(_ isWanted: (FileName) -> Bool) throws(CustodyError) -> [FileName: FileStamp] {
    try doing("list", .inbox) { () throws(SystemError) in
      try FolderListing(try openFolder(.inbox)) { name, stamp in stamp != nil && isWanted(name) }
        .files
    }
  }

  /// Waits until no other process has the folder's lock, and takes it. It is given back with the
  /// descriptor.
  func lock() throws(CustodyError) -> Descriptor {
    try doing("lock", .inbox) { () throws(SystemError) in
      let own = try openFolder(.inbox)
      let number = own.number
      // Where a file system knows no locks, one watcher has to be enough.
      if flock(number, LOCK_EX) != 0, errno == EINTR { _ = flock(number, LOCK_EX) }
      return own
    }
  }

  /// The open folder itself, for a claim to it.
  func opened() throws(CustodyError) -> Descriptor {
    try doing("open", .inbox) { () throws(SystemError) in try openFolder(.inbox) }
  }

  private static let temporaryPrefix = ".spool-"

  private func fill(_ path: InboxPath, with bytes: [UInt8]) throws(SystemError) {
    let parent = try openFolder(.inbox)
    try calls.willPerform(.create(path))
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let file = Descriptor(
      try SystemError.check {
        unsafe path.withCString { unsafe posix_open_at(parent.number, $0, flags, 0o666) }
      })
    let number = file.number
    var count = 0
    while count < bytes.count {
      try calls.willPerform(.write(path))
      count += try SystemError.check {
        unsafe bytes.withUnsafeBytes { buffer in
          let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[count...])
          return unsafe Glibc.write(number, rest.baseAddress, rest.count)
        }
      }
    }
    try calls.willPerform(.flush(path))
    // What failed to reach the disk once is not asked for again.
    guard fsync(number) == 0 else { throw .last }
  }

  private func flush(_ folder: borrowing Descriptor, _ path: InboxPath) throws(SystemError) {
    try calls.willPerform(.flushFolder(path))
    guard fsync(folder.number) == 0 else { throw .last }
  }

  private func openFolder(_ path: InboxPath) throws(SystemError) -> Descriptor {
    try folder.openBeneath(path, O_RDONLY | O_DIRECTORY)
  }

  /// Makes a call with the last names of two paths.
  private func call(
    _ source: InboxPath, _ target: InboxPath,
    _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> CInt
  ) throws(SystemError) {
    guard let first = source.name, let second = target.name else {
      throw SystemError(code: EINVAL)
    }
    try SystemError.check {
      unsafe InboxPath.inbox.appending(first).withCString { first in
        unsafe InboxPath.inbox.appending(second).withCString { unsafe body(first, $0) }
      }
    }
  }

  private func doing<Result: ~Copyable>(
    _ action: String, _ path: InboxPath, _ work: () throws(SystemError) -> Result
  ) throws(CustodyError) -> Result {
    do throws(SystemError) {
      return try work()
    } catch {
      let place = path == .inbox ? folder.path : "\(folder.path)/\(path)"
      throw CustodyError(action, place, error)
    }
  }
}
