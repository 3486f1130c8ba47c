import Glibc

/// Paths as text, and the names in folders.
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

  /// The names in a folder, in no order; none where it cannot be read.
  static func names(in folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != "." && name != ".." { names.append(name) }
    }
    return names
  }

  /// Without `.` and without needless slashes. `..` stays: behind a symbolic link, only the system
  /// knows where it leads.
  private static func trimmed(_ path: String) -> String {
    let names = path.split(separator: "/").filter { $0 != "." }
    return (path.hasPrefix("/") ? "/" : "") + names.joined(separator: "/")
  }
}
