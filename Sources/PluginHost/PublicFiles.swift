import FoundationEssentials
import Glibc

/// What in a folder everybody may read: for root, whom permissions do not bind. O(files).
struct PublicFiles {
  /// Files, and folders with all that is in them.
  private(set) var whole: [String] = []
  /// Folders of which only some files are public.
  private(set) var folders: [String] = []

  init(of folder: String) {
    if visit(folder) { whole = [folder] }
  }

  /// - Returns: whether all of it is public; otherwise what is public of it has been noted.
  private mutating func visit(_ path: String) -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return false }
    switch status.st_mode & S_IFMT {
    // What a link leads to has permissions of its own.
    case S_IFLNK: return true
    case S_IFDIR:
      guard status.st_mode & 0o5 == 0o5,
        let names = try? FileManager.default.contentsOfDirectory(atPath: path)
      else { return false }
      let inner = names.map { "\(path)/\($0)" }.map { (path: $0, isPublic: visit($0)) }
      if inner.allSatisfy(\.isPublic) { return true }
      whole += inner.filter(\.isPublic).map(\.path)
      folders.append(path)
      return false
    default: return status.st_mode & 0o4 != 0
    }
  }
}
