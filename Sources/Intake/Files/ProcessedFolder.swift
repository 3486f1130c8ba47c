import CPosix
import Glibc
import Platform
import Synchronization

/// An open inbox or outbox in which files are moved and written. No link is followed.
struct ProcessedFolder: ~Copyable {
  private let folder: InboxFolder
  private let hook: FolderCallHook?

  init(at path: String, hook: FolderCallHook? = nil) throws(SpoolError) {
    folder = try InboxFolder(at: path)
    self.hook = hook
  }

  /// Creates a folder that a user named, and those above it, if missing.
  static func make(_ path: String) throws(SpoolError) {
    let names = path.pathNames
    for count in 1...max(1, names.count) {
      let folder = (path.hasPrefix("/") ? "/" : "") + names.prefix(count).joined(separator: "/")
      do throws(SystemError) { try FileOperations.system.makeFolder(folder, mode: 0o777) } catch {
        if count == names.count { throw SpoolError("make the folder", path, error) }
      }
    }
  }

  /// The stamp of the entry at a path; nil if there is none.
  func stamp(of path: InboxPath) throws(SpoolError) -> FileStamp? {
    try folder.stamp(of: path)
  }

  func open(_ path: InboxPath) throws(SpoolError) -> ArrivedFile {
    try folder.open(path)
  }

  /// Creates a folder and those above it, if missing, and flushes their names.
  func makeFolder(_ path: InboxPath) throws(SpoolError) {
    var made = InboxPath.inbox
    for name in path.names {
      let above = made
      made = above.appending(name)
      if let stamp = try stamp(of: made), stamp.isFolder { continue }
      try doing("make the folder", made) { () throws(SystemError) in
        let parent = try openFolder(above)
        try hook?(.makeFolder(made))
        try parent.makeFolder(name)
        try flush(parent, above)
      }
    }
  }

  /// Renames a file, unless the new name is taken.
  /// - Returns: false if it is.
  func move(_ source: InboxPath, toNew target: InboxPath) throws(SpoolError) -> Bool {
    try doing("move", source) { () throws(SystemError) in
      let from = try openFolder(source.folder)
      let to = try openFolder(target.folder)
      try hook?(.move(from: source, to: target))
      return try from.rename(try lastName(of: source), toNew: try lastName(of: target), in: to)
    }
  }

  /// Flushes the names in a folder to the disk.
  func flushFolder(_ path: InboxPath) throws(SpoolError) {
    try doing("flush", path) { () throws(SystemError) in try flush(try openFolder(path), path) }
  }

  func remove(_ path: InboxPath) throws(SpoolError) {
    try doing("remove", path) { () throws(SystemError) in
      let parent = try openFolder(path.folder)
      try hook?(.remove(path))
      try parent.unlinkIfThere(try lastName(of: path))
    }
  }

  /// Replaces a whole file: written under a temporary name, flushed, then renamed. The folder
  /// itself is not flushed.
  func write(_ text: String, to target: InboxPath) throws(SpoolError) {
    let unique = String(UInt64.random(in: .min ... .max), radix: 36)
    let name = "\(Self.temporaryPrefix)\(getpid())-\(unique).tmp"
    guard let temporary = InboxPath(name) else { return }
    Self.underWay.withLock { _ = $0.insert(name) }
    defer { Self.underWay.withLock { _ = $0.remove(name) } }
    do throws(SpoolError) {
      try doing("write", target) { () throws(SystemError) in
        try fill(temporary, with: Array(text.utf8))
        let from = try openFolder(.inbox)
        let to = try openFolder(target.folder)
        try hook?(.replace(from: temporary, to: target))
        try from.rename(try lastName(of: temporary), to: try lastName(of: target), in: to)
      }
    } catch {
      try? remove(temporary)
      throw error
    }
  }

  /// Removes the temporary files of dead processes. Several inboxes may share the folder: this
  /// process's files, and another's recent ones, are about to be renamed.
  func sweep() throws(SpoolError) {
    let files = try files {
      $0.text?.hasPrefix(Self.temporaryPrefix) == true && $0.hasSuffix(".tmp")
    }
    let now = Clock.now()
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
  func files(_ isWanted: (FileName) -> Bool) throws(SpoolError) -> [FileName: FileStamp] {
    try doing("list", .inbox) { () throws(SystemError) in
      try FolderListing(try openFolder(.inbox)) { name, stamp in stamp != nil && isWanted(name) }
        .files
    }
  }

  /// Waits for the folder's lock, which the descriptor holds.
  func lock() throws(SpoolError) -> OpenFile {
    try doing("lock", .inbox) { () throws(SystemError) in
      let own = try openFolder(.inbox)
      own.waitForLock()
      return own
    }
  }

  /// The open folder itself, for a claim to it.
  func opened() throws(SpoolError) -> OpenFile {
    try doing("open", .inbox) { () throws(SystemError) in try openFolder(.inbox) }
  }

  private static let temporaryPrefix = ".spool-"

  private func fill(_ path: InboxPath, with bytes: [UInt8]) throws(SystemError) {
    let parent = try openFolder(.inbox)
    try hook?(.create(path))
    let file = try parent.makeFile(try lastName(of: path))
    try hook?(.write(path))
    try FileOperations.system.write(bytes, to: file)
    try hook?(.flush(path))
    try FileOperations.system.flush(file)
  }

  private func flush(_ folder: borrowing OpenFile, _ path: InboxPath) throws(SystemError) {
    try hook?(.flushFolder(path))
    try folder.flushAll()
  }

  private func openFolder(_ path: InboxPath) throws(SystemError) -> OpenFile {
    try folder.openBeneath(path, O_RDONLY | O_DIRECTORY)
  }

  private func lastName(of path: InboxPath) throws(SystemError) -> FileName {
    guard let name = path.name else { throw SystemError(EINVAL) }
    return name
  }

  private func doing<Result: ~Copyable>(
    _ action: String, _ path: InboxPath, _ work: () throws(SystemError) -> Result
  ) throws(SpoolError) -> Result {
    let place = path == .inbox ? folder.path : "\(folder.path)/\(path)"
    return try Platform.doing(action, place, work)
  }
}

/// A call that changes a folder outside the store.
enum FolderCall: Hashable, Sendable {
  case makeFolder(InboxPath)
  case create(InboxPath)
  case write(InboxPath)
  case flush(InboxPath)
  case move(from: InboxPath, to: InboxPath)
  case replace(from: InboxPath, to: InboxPath)
  case remove(InboxPath)
  case flushFolder(InboxPath)
}

/// Called before every call that changes a folder outside the store, so that a test can see their
/// order; an error that it throws replaces the call. Nil outside tests.
typealias FolderCallHook = @Sendable (FolderCall) throws(SystemError) -> Void
