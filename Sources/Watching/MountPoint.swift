internal import CPosix
internal import Glibc

/// Folders that another disk is mounted on.
enum MountPoint {
  /// The innermost one at or above a folder; nil where all of them lie on the root's disk.
  /// O(folders above), each of which is asked of the system: blocks where a disk does not answer.
  /// - Parameter path: absolute and free of links.
  static func above(_ path: String) -> String? {
    var names = path.split(separator: "/")
    while !names.isEmpty {
      let folder = "/" + names.joined(separator: "/")
      if isMounted(folder) { return folder }
      names.removeLast()
    }
    return nil
  }

  /// Whether a folder and the one that it lies in are on different disks.
  static func isMounted(_ folder: String) -> Bool {
    var own = stat()
    var parent = stat()
    guard unsafe stat(folder, &own) == 0, unsafe stat(folder + "/..", &parent) == 0 else {
      return false
    }
    return own.st_dev != parent.st_dev
  }
}
