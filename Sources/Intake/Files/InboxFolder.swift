import CPosix
import Glibc
import Platform

/// An open inbox, and the only way to a file in it. A path never leads out of it: links are refused
/// anywhere in a path, and pipes, sockets and devices are recognised before they are opened.
struct InboxFolder: ~Copyable, Sendable {
  let path: String
  private let folder: OpenFile
  private let opening: Opening

  /// Follows links in the user's own path to the inbox.
  init(at path: String) throws(SpoolError) {
    try self.init(at: path, opening: .kernel)
  }

  init(at path: String, opening: Opening) throws(SpoolError) {
    self.path = path
    self.opening = opening
    folder = try doing("open the inbox", path) { () throws(SystemError) in
      try FileOperations.system.open(path, O_RDONLY | O_DIRECTORY)
    }
  }

  /// Opens a file for reading, without blocking and without effect on a pipe or a device.
  ///
  /// - Throws: an `SpoolError` if it is no regular file, lies behind a link, or claims a gibibyte
  ///   or more of which hardly anything is on the disk.
  func open(_ path: InboxPath) throws(SpoolError) -> ArrivedFile {
    // Checked first: opening a pipe wakes its writer, and opening a device can do anything.
    let seen = try seenStamp(of: path)
    try Self.refuse(seen, path)
    let file = try open(path, O_RDONLY | O_NONBLOCK)
    let arrived = try ArrivedFile(file, at: path)
    guard arrived.stamp.isSameFile(as: seen) else {
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
      return try seenStamp(of: path)
    } catch {
      if error.kind == .missing { return nil }
      throw error
    }
  }

  /// Opens a folder beneath the inbox, or the inbox itself, to list it.
  func openFolder(_ path: InboxPath) throws(SpoolError) -> OpenFile {
    try open(path, O_RDONLY | O_DIRECTORY)
  }

  /// Whether the inbox's path still leads to this folder.
  var isInPlace: Bool {
    guard let there = try? FileStamp(following: path), let own = try? folder.stamp else {
      return false
    }
    return there.isSameFile(as: own)
  }

  /// Whether other machines can change the folder's file system without this kernel's knowledge.
  var isRemote: Bool { Self.isRemote(kind: folder.fileSystemKind) }

  /// Opens a path with the flags of open(2); the caller words the error.
  func openBeneath(_ path: InboxPath, _ flags: CInt) throws(SystemError) -> OpenFile {
    try opening.open(folder.descriptor, path, flags)
  }

  /// The stamp of the entry at a path, unopened.
  private func seenStamp(of path: InboxPath) throws(SpoolError) -> FileStamp {
    let file = try open(path, posix_path_only())
    return try doing("look at", path.description) { () throws(SystemError) in try file.stamp }
  }

  private func open(_ path: InboxPath, _ flags: CInt) throws(SpoolError) -> OpenFile {
    try doing("open", path.description) { () throws(SystemError) in
      try opening.open(folder.descriptor, path, flags)
    }
  }

  /// Throws for everything but a regular file.
  static func refuse(_ stamp: FileStamp, _ path: InboxPath) throws(SpoolError) {
    guard let complaint = stamp.complaint else { return }
    throw SpoolError(
      "accept", path.description, reason: complaint,
      advice: "put the recording itself into the inbox",
      kind: stamp.isFolder ? .wrongKind : stamp.isLink ? .link : .special)
  }

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
