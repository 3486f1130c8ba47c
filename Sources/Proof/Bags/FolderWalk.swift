internal import Glibc

/// Everything that lies in a folder and in those below it; no link is followed.
public enum FolderWalk {
  /// What is no folder: its path from the folder, and whether it is a regular file; sorted.
  public static func entries(of folder: String) -> [(path: String, isFile: Bool)] {
    var found: [(path: String, isFile: Bool)] = []
    var waiting = [""]
    while let below = waiting.popLast() {
      for name in KeyFile.names(in: "\(folder)/\(below)") {
        let path = below + name
        var status = stat()
        // What cannot be looked at, for its name is no UTF-8 perhaps, is there nevertheless.
        if unsafe lstat("\(folder)/\(path)", &status) != 0 {
          found.append((path, false))
        } else if status.st_mode & S_IFMT == S_IFDIR {
          waiting.append(path + "/")
        } else {
          found.append((path, status.st_mode & S_IFMT == S_IFREG))
        }
      }
    }
    return found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }
}
