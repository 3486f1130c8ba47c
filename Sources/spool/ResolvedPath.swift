import Glibc

/// One file, one name: what is remembered by a path must not begin anew because it was typed from
/// another folder or by a link.
enum ResolvedPath {
  /// The path without links and dots in it; as it is where it leads nowhere.
  static func of(_ path: String) -> String {
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// A file's path with its folder resolved; a link in the file's own place is not followed.
  static func ofFile(_ path: String) -> String {
    var folders: [Substring: String] = [:]
    return ofFile(path, &folders)
  }

  /// The same for many files: each folder is looked at once.
  static func ofFile(_ path: String, _ folders: inout [Substring: String]) -> String {
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { path[..<$0] } ?? "."
    let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
    let known = folders[folder] ?? of(folder.isEmpty ? "/" : String(folder))
    folders[folder] = known
    return known == "/" ? "/\(name)" : "\(known)/\(name)"
  }
}
