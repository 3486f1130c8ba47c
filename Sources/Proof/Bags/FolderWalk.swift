internal import Glibc
import Platform

/// Lists a folder recursively without following links.
package enum FolderWalk {
  /// All entries except folders: paths from the folder, and whether they are regular files; sorted.
  package static func entries(of folder: String) -> [(path: String, isFile: Bool)] {
    var found: [(path: String, isFile: Bool)] = []
    var waiting = [""]
    while let below = waiting.popLast() {
      for (name, kind) in listing(of: "\(folder)/\(below)") {
        let path = below + name
        switch kind {
        case DT_DIR: waiting.append(path + "/")
        case DT_REG: found.append((path, true))
        // Some file systems do not give the type, and an unreadable entry still exists.
        case DT_UNKNOWN:
          let stamp = try? FileStamp(at: "\(folder)/\(path)")
          if stamp?.isFolder == true {
            waiting.append(path + "/")
          } else {
            found.append((path, stamp?.isRegularFile == true))
          }
        default: found.append((path, false))
        }
      }
    }
    return found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// Whether a symbolic link is at a path.
  static func isLink(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// A folder's entries with their types: a stat call for each would take as long as reading it.
  private static func listing(of folder: String) -> [(name: String, kind: Int)] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var entries: [(name: String, kind: Int)] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) {
          unsafe String(cString: $0)
        }
      }
      if name != ".", name != ".." {
        entries.append((name, Int(unsafe entry.pointee.d_type)))
      }
    }
    return entries
  }
}
