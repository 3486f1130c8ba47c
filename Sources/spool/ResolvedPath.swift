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
}
