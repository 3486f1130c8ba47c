import Glibc

/// Paths as text, and the names in folders.
package enum FilePath {
  /// The absolute path; symbolic links are not resolved.
  package static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return trimmed(path) }
    guard let folder = unsafe getcwd(nil, 0) else { return trimmed(path) }
    defer { unsafe free(folder) }
    return unsafe trimmed("\(String(cString: folder))/\(path)")
  }

  /// The parent folder of an absolute path.
  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  /// The folder at an absolute path, or the nearest above it that is there.
  package static func existing(_ path: String) -> String {
    var path = path
    while path.count > 1, !exists(path) { path = folder(of: path) }
    return path
  }

  /// A short name for each of these paths: that of the file, with its folder where other files have
  /// the same name, and the whole path where that is not enough. O(n).
  package static func shortNames(of paths: [String]) -> [String: String] {
    var names: [String: String] = [:]
    var rest = Set(paths)
    for length in 1...2 {
      let ends = Dictionary(grouping: rest) {
        $0.pathNames.suffix(length).joined(separator: "/")
      }
      for (name, alike) in ends where alike.count == 1 {
        names[alike[0]] = name
        rest.remove(alike[0])
      }
    }
    for path in rest { names[path] = path }
    return names
  }

  /// Whether a folder can be read and has nothing in it. O(1).
  package static func isEmptyFolder(_ path: String) -> Bool {
    guard let stream = unsafe opendir(path) else { return false }
    defer { unsafe closedir(stream) }
    // Two entries are the folder's own and its parent's.
    for _ in 0..<3 where unsafe readdir(stream) == nil { return true }
    return false
  }

  /// The names in a folder, sorted; empty if it cannot be read.
  package static func names(in folder: String) -> [String] {
    entries(in: folder).map(\.name).sorted()
  }

  /// The names in a folder in no order, each with its kind as readdir(3) gives it: `DT_REG`, or
  /// `DT_UNKNOWN` where only a stamp says more; empty if it cannot be read.
  package static func entries(in folder: String) -> [(name: String, kind: Int)] {
    var entries: [(name: String, kind: Int)] = []
    try? forEachName(in: folder) { name, kind, _ in entries.append((name, kind)) }
    return entries
  }

  /// Calls `body` with each name in a folder, in no order, its kind as readdir(3) gives it, and whether
  /// the name is UTF-8: in one that is not, invalid bytes are replaced.
  package static func forEachName(
    in folder: String, _ body: (_ name: String, _ kind: Int, _ isText: Bool) -> Void
  ) throws(SystemError) {
    guard let stream = unsafe opendir(folder) else { throw SystemError(errno) }
    defer { unsafe closedir(stream) }
    while true {
      errno = 0
      guard let entry = unsafe readdir(stream) else {
        if errno != 0 { throw SystemError(errno) }
        return
      }
      let (name, isText) = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe (String(cString: $0), String(validatingCString: $0) != nil)
        }
      }
      if name != "." && name != ".." { body(name, Int(unsafe entry.pointee.d_type), isText) }
    }
  }

  /// Without `.` and redundant slashes. `..` stays: behind a symbolic link, only the kernel can
  /// resolve it.
  private static func trimmed(_ path: String) -> String {
    let names = path.pathNames.filter { $0 != "." }
    return (path.hasPrefix("/") ? "/" : "") + names.joined(separator: "/")
  }
}

extension FileOperations {
  /// Makes the folder at an absolute path and its missing parents, for their owner only, and
  /// flushes each name.
  /// - Parameter advice: what to do if a file lies in its place.
  package func makeFolders(_ path: String, advice: String? = nil) throws(SpoolError) {
    if let stamp = try stamp(of: path) {
      if stamp.isFolder { return }
      throw SpoolError(
        "use the folder", path, reason: "it is a file",
        advice: advice)
    }
    let parent = FilePath.folder(of: path)
    if parent != path { try makeFolders(parent, advice: advice) }
    try doing("make the folder", path) { () throws(SystemError) in
      try makeFolder(path, mode: 0o700)
      try flushFolder(parent)
    }
  }

  /// The stamp of the entry at `path`; nil if there is none.
  private func stamp(of path: String) throws(SpoolError) -> FileStamp? {
    do {
      return try FileStamp(following: path)
    } catch {
      if error.code == ENOENT { return nil }
      throw SpoolError("use the folder", path, error)
    }
  }
}

/// A file to read.
package struct SourceFile: Hashable, Sendable {
  /// Where its bytes are.
  package let path: String
  /// Its path for people, records and exports, whose ending may tell the format. An artifact's
  /// differs from where its bytes are.
  package let name: String

  package init(_ path: String, named name: String? = nil) {
    self.path = path
    self.name = name ?? path
  }

  /// Its name without folders, for messages.
  package var title: String { name.pathNames.last ?? name }
}
