internal import Glibc
import Platform

/// Lists a folder recursively without following links.
package enum FolderWalk {
  /// All entries except folders: paths from the folder, and whether they are regular files; sorted.
  package static func entries(of folder: String) -> [(path: String, isFile: Bool)] {
    var found: [(path: String, isFile: Bool)] = []
    var waiting = [""]
    while let below = waiting.popLast() {
      // A stat call for each entry would take as long as reading it.
      for (name, kind) in FilePath.entries(in: "\(folder)/\(below)") {
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
    (try? FileStamp(at: path))?.isLink == true
  }
}
