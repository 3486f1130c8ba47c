import FoundationEssentials
import Glibc

/// Where a path leads.
enum RealPath {
  /// The absolute path without links, or, where nothing is there, the absolute path.
  static func of(_ path: String) -> String {
    if let real = unsafe realpath(path, nil) {
      defer { unsafe free(real) }
      return unsafe String(cString: real)
    }
    return path.hasPrefix("/") ? path : "\(FileManager.default.currentDirectoryPath)/\(path)"
  }
}
