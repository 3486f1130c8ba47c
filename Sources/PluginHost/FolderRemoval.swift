import FoundationEssentials
import Glibc

/// Removes a folder that a program may have made hard to remove: with folders that are closed to
/// everybody, and with more of them in each other than any path can name. O(entries).
struct FolderRemoval {
  private let folder: String
  private var waiting: [String] = []
  private var count = 0

  /// Removes a folder with all that is in it; no link is followed. Nobody works in it any more.
  static func remove(_ folder: String) {
    if (try? FileManager.default.removeItem(atPath: folder)) != nil { return }
    var removal = FolderRemoval(folder: folder)
    removal.empty(folder)
    while let next = removal.waiting.popLast() {
      removal.empty(next)
      unsafe rmdir(next)
    }
    unsafe rmdir(folder)
  }

  private init(folder: String) { self.folder = folder }

  /// Removes what can be removed at once, and moves the rest to the top, where its path is short.
  private mutating func empty(_ path: String) {
    unsafe chmod(path, 0o700)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      let inner = "\(path)/\(name)"
      if unsafe unlink(inner) == 0 || rmdir(inner) == 0 { continue }
      // A folder changes its place only where it can be written to.
      unsafe chmod(inner, 0o700)
      count += 1
      let place = "\(folder)/\(getpid())-\(count)-\(UUID().uuidString)"
      if unsafe rename(inner, place) == 0 { waiting.append(place) }
    }
  }
}
