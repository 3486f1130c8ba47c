internal import CPosix
internal import Glibc

/// An open inbox, and the only way to a file in it. Nothing that a stranger puts into the folder
/// leads out of it: links are refused wherever they stand in a path, and pipes, sockets and
/// devices are recognised before they are opened.
public struct InboxFolder: ~Copyable, Sendable {
  /// Where the inbox is.
  public let path: String
  private let folder: Descriptor
  private let opening: OpeningBeneath

  /// Opens an inbox. Links in the user's own path to it are followed.
  public init(at path: String) throws(InboxError) {
    try self.init(at: path, opening: .kernel)
  }

  init(at path: String, opening: OpeningBeneath) throws(InboxError) {
    self.path = path
    self.opening = opening
    do throws(SystemError) {
      folder = Descriptor(
        try SystemError.check { unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    } catch {
      throw InboxError("open the inbox", path, error)
    }
  }

  /// Opens a file for reading. It never waits for anybody, and even a pipe or a device does not
  /// notice it.
  ///
  /// - Throws: an `InboxError` where it is no file of bytes, where it lies behind a link, or where
  ///   it claims a gibibyte or more of which hardly anything is on the disk.
  public func open(_ path: InboxPath) throws(InboxError) -> ArrivedFile {
    // Looked at before it is opened for reading: opening a pipe wakes its writer, and opening a
    // device can do anything.
    let seen = try status(of: path)
    try Self.refuse(FileStamp(seen).kind, path)
    let file = try open(path, O_RDONLY | O_NONBLOCK)
    let arrived = try ArrivedFile(file, at: path)
    guard arrived.isSameFile(as: seen) else {
      throw InboxError(
        .changed, "open", path.description, reason: "it was exchanged while it was being opened")
    }
    try arrived.refuseSparseGiant()
    return arrived
  }

  /// The stamp of whatever lies at a path, unopened; nil where nothing does.
  public func stamp(of path: InboxPath) throws(InboxError) -> FileStamp? {
    do {
      return FileStamp(try status(of: path))
    } catch {
      if error.kind == .missing { return nil }
      throw error
    }
  }

  /// Opens a folder beneath the inbox, or the inbox itself, to list it.
  func openFolder(_ path: InboxPath) throws(InboxError) -> Descriptor {
    try open(path, O_RDONLY | O_DIRECTORY)
  }

  /// Whether the inbox's path still leads to this folder.
  var isInPlace: Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0, let own = try? folder.status() else { return false }
    return status.st_ino == own.st_ino && status.st_dev == own.st_dev
  }

  /// Whether the folder lies on a file system that other machines can change without this kernel
  /// hearing of it.
  var isRemote: Bool { RemoteFileSystem.isRemote(kind: posix_file_system_kind(folder.number)) }

  /// Opens what lies at a path with the flags of open(2), for whoever names the trouble himself.
  func openBeneath(_ path: InboxPath, _ flags: CInt) throws(SystemError) -> Descriptor {
    try opening.open(folder.number, path, flags)
  }

  private func status(of path: InboxPath) throws(InboxError) -> stat {
    let file = try open(path, posix_path_only())
    do {
      return try file.status()
    } catch {
      throw InboxError("look at", path.description, error)
    }
  }

  private func open(_ path: InboxPath, _ flags: CInt) throws(InboxError) -> Descriptor {
    do {
      return try opening.open(folder.number, path, flags)
    } catch {
      throw InboxError("open", path.description, error)
    }
  }

  /// Throws for everything that is not a file of bytes.
  static func refuse(_ kind: FileStamp.Kind, _ path: InboxPath) throws(InboxError) {
    let (refusal, what): (InboxError.Kind, String)
    switch kind {
    case .file: return
    case .folder: (refusal, what) = (.wrongKind, "a folder")
    case .link: (refusal, what) = (.link, "a symbolic link")
    case .pipe: (refusal, what) = (.special, "a pipe")
    case .socket: (refusal, what) = (.special, "a socket")
    case .device: (refusal, what) = (.special, "a device")
    }
    throw InboxError(
      refusal, "accept", path.description, reason: "it is \(what)",
      advice: "put the recording itself into the inbox")
  }
}
