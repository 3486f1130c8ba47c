import FoundationEssentials
import Glibc
import Platform
import Store
import Synchronization

/// The folder of a store that lives no longer than one run. At most one at a time.
///
/// It is removed when the run has ended, also by a signal. A killed process leaves it behind; the
/// next process that makes one in the same folder removes it, since no process holds its lock.
final class TemporaryStore: Sendable {
  /// The beginning of its name.
  static let prefix = ".spool-quick-"

  private final class Place: Sendable {
    let path: String
    // Shared for as long as the process lives.
    private let lock: FolderLock

    /// Nil if another process has removed it before it was locked.
    init?(_ path: String) {
      guard let lock = try? FolderLock(path), lock.tryShared(), FilePath.exists(path) else {
        return nil
      }
      self.path = path
      self.lock = lock
    }
  }
  private let place = Mutex<Place?>(nil)

  /// Makes the folder and an empty store in it, after removing what killed processes left there.
  /// - Parameter parent: an existing folder.
  func open(in parent: String) throws(SpoolError) -> DiskStore {
    Self.sweep(parent)
    for _ in 0..<Self.attemptCount {
      let path = try doing("make a temporary folder in", parent) { () throws(SystemError) in
        try FileOperations.system.makeUniqueFolder("\(parent)/\(Self.prefix)")
      }
      guard let made = Place(path) else { continue }
      place.withLock { $0 = made }
      return try DiskStore(at: path + "/store")
    }
    throw SpoolError(
      "cannot make a temporary folder in \(parent)", reason: "other processes remove it",
      advice: "try again", cause: .transient)
  }

  private static let attemptCount = 10

  /// Removes it. From any thread, also while a run still writes to it.
  func remove() {
    let path = place.withLock { $0?.path }
    if let path { Self.remove(path) }
  }

  private static func remove(_ path: String) {
    // A file that is made meanwhile can keep a folder from being removed.
    for _ in 0..<attemptCount where FilePath.exists(path) {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  /// Removes the user's own temporary stores that no process holds. Links are left alone.
  private static func sweep(_ parent: String) {
    for name in FilePath.names(in: parent) where name.hasPrefix(prefix) {
      let path = "\(parent)/\(name)"
      guard let stamp = try? FileStamp(at: path), stamp.isFolder, stamp.owner == geteuid(),
        let lock = try? FolderLock(path), lock.tryAlone()
      else { continue }
      remove(path)
    }
  }
}
