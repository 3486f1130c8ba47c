import FoundationEssentials
import Glibc

/// What in a folder everybody may read: for root, whom permissions do not bind. O(files).
struct PublicFiles {
  /// Files, and folders with all that is in them.
  private(set) var whole: [String] = []
  /// Folders of which only some files are public.
  private(set) var folders: [String] = []

  /// - Parameters:
  ///   - path: a file or a folder; of a link, what it leads to.
  ///   - base: a folder that is known to be anybody's, however far one gets to it.
  init(of path: String, from base: String = "/") {
    let path = ProgramPrefix.real(path)
    guard Self.isReachable(path, from: base) else { return }
    if visit(path) { whole = [path] }
  }

  /// Whether everybody may read a file, or all that is in a folder.
  static func hold(_ path: String, from base: String = "/") -> Bool {
    let files = PublicFiles(of: path, from: base)
    return !files.whole.isEmpty && files.folders.isEmpty
  }

  /// Whether nobody but root may read anything of it.
  var isEmpty: Bool { whole.isEmpty && folders.isEmpty }

  /// Whether everybody gets through the folders above, below `base` if it lies in there.
  static func isReachable(_ path: String, from base: String = "/") -> Bool {
    var folder = ""
    for part in path.split(separator: "/").dropLast() {
      folder += "/\(part)"
      var status = stat()
      if base == folder || base.hasPrefix("\(folder)/"), path.hasPrefix("\(base)/") { continue }
      guard unsafe stat(folder, &status) == 0, status.st_mode & S_IXOTH != 0 else { return false }
    }
    return true
  }

  private static func isLink(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
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
      whole += inner.filter { $0.isPublic && !Self.isLink($0.path) }.map(\.path)
      folders.append(path)
      return false
    default: return status.st_mode & 0o4 != 0
    }
  }
}
