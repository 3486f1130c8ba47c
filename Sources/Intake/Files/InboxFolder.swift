import CPosix
import Glibc
import Platform

/// An open inbox, and the only way to a file in it. A path never leads out of it: links are refused
/// anywhere in a path, and pipes, sockets and devices are recognised before they are opened.
struct InboxFolder: ~Copyable, Sendable {
  let path: String
  private let folder: Descriptor
  private let opening: OpeningBeneath

  /// Follows links in the user's own path to the inbox.
  init(at path: String) throws(SpoolError) {
    try self.init(at: path, opening: .kernel)
  }

  init(at path: String, opening: OpeningBeneath) throws(SpoolError) {
    self.path = path
    self.opening = opening
    do throws(SystemError) {
      folder = Descriptor(
        try SystemError.check { unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    } catch {
      throw SpoolError("open the inbox", path, error)
    }
  }

  /// Opens a file for reading, without blocking and without effect on a pipe or a device.
  ///
  /// - Throws: an `SpoolError` if it is no regular file, lies behind a link, or claims a gibibyte
  ///   or more of which hardly anything is on the disk.
  func open(_ path: InboxPath) throws(SpoolError) -> ArrivedFile {
    // Checked first: opening a pipe wakes its writer, and opening a device can do anything.
    let seen = try status(of: path)
    try Self.refuse(FileStamp(seen).kind, path)
    let file = try open(path, O_RDONLY | O_NONBLOCK)
    let arrived = try ArrivedFile(file, at: path)
    guard arrived.isSameFile(as: seen) else {
      throw SpoolError(
        "open", path.description, reason: "it was exchanged while it was being opened",
        kind: .changed)
    }
    try arrived.refuseSparseGiant()
    return arrived
  }

  /// The stamp of the entry at a path, unopened; nil if there is none.
  func stamp(of path: InboxPath) throws(SpoolError) -> FileStamp? {
    do {
      return FileStamp(try status(of: path))
    } catch {
      if error.kind == .missing { return nil }
      throw error
    }
  }

  /// Opens a folder beneath the inbox, or the inbox itself, to list it.
  func openFolder(_ path: InboxPath) throws(SpoolError) -> Descriptor {
    try open(path, O_RDONLY | O_DIRECTORY)
  }

  /// Whether the inbox's path still leads to this folder.
  var isInPlace: Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0, let own = try? folder.status() else { return false }
    return status.st_ino == own.st_ino && status.st_dev == own.st_dev
  }

  /// Whether other machines can change the folder's file system without this kernel's knowledge.
  var isRemote: Bool { Self.isRemote(kind: posix_file_system_kind(folder.number)) }

  /// Opens a path with the flags of open(2); the caller words the error.
  func openBeneath(_ path: InboxPath, _ flags: CInt) throws(SystemError) -> Descriptor {
    try opening.open(folder.number, path, flags)
  }

  private func status(of path: InboxPath) throws(SpoolError) -> stat {
    let file = try open(path, posix_path_only())
    do {
      return try file.status()
    } catch {
      throw SpoolError("look at", path.description, error)
    }
  }

  private func open(_ path: InboxPath, _ flags: CInt) throws(SpoolError) -> Descriptor {
    do {
      return try opening.open(folder.number, path, flags)
    } catch {
      throw SpoolError("open", path.description, error)
    }
  }

  /// Throws for everything but a regular file.
  static func refuse(_ kind: FileStamp.Kind, _ path: InboxPath) throws(SpoolError) {
    let (refusal, what): (SpoolError.Kind, String)
    switch kind {
    case .file: return
    case .folder: (refusal, what) = (.wrongKind, "a folder")
    case .link: (refusal, what) = (.link, "a symbolic link")
    case .pipe: (refusal, what) = (.special, "a pipe")
    case .socket: (refusal, what) = (.special, "a socket")
    case .device: (refusal, what) = (.special, "a device")
    }
    throw SpoolError(
      "accept", path.description, reason: "it is \(what)",
      advice: "put the recording itself into the inbox", kind: refusal)
  }
}

extension InboxFolder {
  /// Visits the inbox and the folders beneath it, each with its wanted files. Skips what is
  /// unreadable: it may come or go at any time. O(n) for n entries.
  /// - Parameter isWanted: decides for an entry of a folder; the stamp of a folder is nil.
  func visitFolders(
    wanting isWanted: (_ folder: InboxPath, FileName, FileStamp?) -> Bool,
    visit: (_ folder: InboxPath, [FileName: FileStamp]) -> Void
  ) {
    var waiting = [InboxPath.inbox]
    while let path = waiting.popLast() {
      guard let folder = try? openFolder(path),
        let list = try? FolderListing(folder, isWanted: { isWanted(path, $0, $1) })
      else { continue }
      visit(path, list.files)
      waiting += list.folders.map(path.appending)
    }
  }
}

/// File systems whose files change without this kernel's knowledge, and so without events.
extension InboxFolder {
  /// Whether a number of statfs(2) is of such a kind; so is -1, for unknown.
  static func isRemote(kind: Int) -> Bool { kind == -1 || remoteKinds.contains(kind) }

  /// The numbers in linux/magic.h and in statfs(2).
  private static let remoteKinds: Set<Int> = [
    0x6969,  // NFS
    0x517b,  // SMB
    0xff53_4d42,  // CIFS
    0xfe53_4d42,  // SMB 2 and later
    0x6573_5546,  // FUSE: sshfs, rclone mount, shared folders of virtual machines
    0x0102_1997,  // 9P
    0x00c3_6400,  // Ceph
    0x5346_414f,  // AFS
    0x7375_7245,  // Coda
    0x786f_4256,  // VirtualBox shared folders
    0x0bd0_0bd0,  // Lustre
    0x4750_4653,  // GPFS
    0x0116_1970,  // GFS2
    0x7461_636f,  // OCFS2
  ]
}

/// Opens a path beneath a folder: follows no link and reaches nothing outside, even while folders
/// are replaced by links.
enum OpeningBeneath: Sendable {
  /// By openat2(2) (Linux 5.6).
  case kernel
  /// Name by name, each without following a link: for older kernels and for containers that forbid
  /// unknown calls.
  case stepwise

  /// Opens `path` with the flags of open(2), relative to an open folder.
  func open(_ folder: CInt, _ path: InboxPath, _ flags: CInt) throws(SystemError) -> Descriptor {
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
  ) throws(SystemError) -> Descriptor {
    // EAGAIN: a rename meanwhile made the kernel unsure.
    for _ in 0..<8 {
      let number = unsafe path.withCString { unsafe posix_open_beneath(folder, $0, flags) }
      if number >= 0 { return Descriptor(number) }
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
  ) throws(SystemError) -> Descriptor {
    var names = path.names
    guard let last = names.popLast() else { return try openNext(folder, .inbox, flags) }
    let passing = posix_path_only() | O_NOFOLLOW | O_CLOEXEC
    var parent = try openNext(folder, .inbox, passing)
    for name in names {
      parent = try openNext(parent.number, InboxPath.inbox.appending(name), passing)
      if FileStamp(try parent.status()).kind == .link { throw SystemError(ELOOP) }
    }
    return try openNext(parent.number, InboxPath.inbox.appending(last), flags)
  }

  /// Opens one name, which is no path.
  private func openNext(
    _ folder: CInt, _ name: InboxPath, _ flags: CInt
  ) throws(SystemError) -> Descriptor {
    let number = try SystemError.check {
      unsafe name.withCString { unsafe openat(folder, $0, flags) }
    }
    return Descriptor(number)
  }
}
