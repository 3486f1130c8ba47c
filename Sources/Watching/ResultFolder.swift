internal import CPosix
internal import Glibc

/// A folder that results go to. It may lie on a disk that somebody unmounts, or on another machine.
struct ResultFolder: Sendable {
  /// An absolute path without links in it.
  let path: String
  /// What it is there for: `the output folder`.
  let role: String
  private let mounts: FolderMounts

  init(_ path: String, role: String, mounts: FolderMounts) {
    self.path = path
    self.role = role
    self.mounts = mounts
  }

  /// Why nothing can be put into it now, in words; nil where something can.
  var trouble: String? {
    if let absence = mounts.absence(of: path) { return absence }
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return Self.words(errno) }
    defer { close(folder) }
    var entry = statvfs()
    guard unsafe fstatvfs(folder, &entry) == 0 else { return Self.words(errno) }
    if entry.f_flag & UInt(ST_RDONLY) != 0 { return Self.words(EROFS) }
    guard unsafe access(path, W_OK | X_OK) == 0 else { return Self.words(errno) }
    return nil
  }

  private static func words(_ code: CInt) -> String { unsafe String(cString: strerror(code)) }
}
