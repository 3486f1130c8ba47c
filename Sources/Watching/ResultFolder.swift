internal import CPosix
internal import Glibc

/// A folder that results go to. It may lie on a disk that somebody unmounts, or on another machine.
struct ResultFolder: Sendable {
  /// An absolute path without links in it.
  let path: String
  /// What it is there for: `the output folder`.
  let role: String
  /// The folder at or above it that another disk was mounted on when the watch began; nil where none
  /// was. With nothing mounted there, a folder of the same name is another one.
  private let mountPoint: String?

  init(_ path: String, role: String) {
    self.path = path
    self.role = role
    mountPoint = Self.mountPoint(above: path)
  }

  /// Why nothing can be put into it now, in words; nil where something can.
  var trouble: String? {
    if let mountPoint, !Self.isMounted(mountPoint) { return "nothing is mounted on \(mountPoint)" }
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

  private static func mountPoint(above path: String) -> String? {
    var names = path.split(separator: "/")
    while !names.isEmpty {
      let folder = "/" + names.joined(separator: "/")
      if isMounted(folder) { return folder }
      names.removeLast()
    }
    return nil
  }

  /// Whether a folder and the one that it lies in are on different disks.
  private static func isMounted(_ folder: String) -> Bool {
    var own = stat()
    var parent = stat()
    guard unsafe stat(folder, &own) == 0, unsafe stat(folder + "/..", &parent) == 0 else {
      return false
    }
    return own.st_dev != parent.st_dev
  }
}
