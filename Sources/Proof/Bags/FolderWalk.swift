internal import Glibc

/// Everything that lies in a folder and in those below it; no link is followed.
public enum FolderWalk {
  /// What is no folder: its path from the folder, and whether it is a regular file; sorted.
  public static func entries(of folder: String) -> [(path: String, isFile: Bool)] {
    var found: [(path: String, isFile: Bool)] = []
    var waiting = [""]
    while let below = waiting.popLast() {
      for (name, kind) in listing(of: "\(folder)/\(below)") {
        let path = below + name
        switch kind {
        case DT_DIR: waiting.append(path + "/")
        case DT_REG: found.append((path, true))
        // Some file systems do not say, and what cannot be looked at is there nevertheless.
        case DT_UNKNOWN where isFolder("\(folder)/\(path)"): waiting.append(path + "/")
        case DT_UNKNOWN: found.append((path, mode(of: "\(folder)/\(path)") == S_IFREG))
        default: found.append((path, false))
        }
      }
    }
    return found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// Whether a folder is at a path, and no link to one.
  static func isFolder(_ path: String) -> Bool { mode(of: path) == S_IFDIR }

  /// Whether a link is at a path, wherever it leads.
  static func isLink(_ path: String) -> Bool { mode(of: path) == S_IFLNK }

  private static func mode(of path: String) -> mode_t? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// What a folder holds, and of what kind it is: asking for each would take as long as reading it.
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
