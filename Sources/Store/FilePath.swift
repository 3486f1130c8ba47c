import Glibc

/// Paths as text.
enum FilePath {
  /// The path from the root; it does not follow symbolic links.
  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return trimmed(path) }
    guard let folder = unsafe getcwd(nil, 0) else { return trimmed(path) }
    defer { unsafe free(folder) }
    return unsafe trimmed("\(String(cString: folder))/\(path)")
  }

  /// The folder that holds what is at an absolute path.
  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// Without `.` and without needless slashes. `..` stays: behind a symbolic link, only the system
  /// knows where it leads.
  private static func trimmed(_ path: String) -> String {
    let names = path.split(separator: "/").filter { $0 != "." }
    return (path.hasPrefix("/") ? "/" : "") + names.joined(separator: "/")
  }
}
