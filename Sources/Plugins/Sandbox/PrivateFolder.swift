import FoundationEssentials
import Glibc
import PipelineModel
package import Platform

/// A temporary folder for one task of a plugin, unreadable for other users. It lies inside a second
/// folder that only Spool owns, so that a plugin cannot open it by changing permissions. It is
/// deleted by `remove` or with the last reference.
///
/// A lock marks it as in use; the kernel releases the lock when Spool ends. Unlocked folders of
/// killed processes are deleted when the next process makes its first folder.
package final class PrivateFolder: Sendable {
  /// An absolute path.
  package let path: String
  /// The outer folder.
  private let enclosure: String
  private let lock: OpenFile

  /// The name prefix of all such folders.
  static let prefix = "spool-private-"

  /// Makes a folder in `TMPDIR`, or else in `/tmp`.
  /// - Parameters:
  ///   - name: its name.
  ///   - user: what it is for, in error messages: `the plugin softclip 1.0.0`.
  package init(_ name: String = "plugin", for user: String) throws(SpoolError) {
    let base = Self.base
    func making<Result>(
      _ folder: String, _ calls: (FileOperations) throws(SystemError) -> Result
    ) throws(SpoolError) -> Result {
      do { return try calls(.uncounted) } catch {
        throw SpoolError(
          "make a folder for \(user) in", folder, error, advice: "set TMPDIR to another folder")
      }
    }
    var failure: SystemError?
    for _ in 0..<16 {
      let made = try making(base) { (files) throws(SystemError) in
        try files.makeUniqueFolder("\(base)/\(Self.prefix)\(name)-")
      }
      // Another process may have swept it before it was locked.
      do throws(SystemError) { lock = try Self.lock(made) } catch {
        failure = error
        continue
      }
      enclosure = made
      path = "\(made)/own"
      try making(made) { (files) throws(SystemError) in
        try files.makeNewFolder("\(made)/own", mode: 0o700)
      }
      return
    }
    throw SpoolError(
      "cannot lock a folder for \(user) in \(base)", reason: failure?.words,
      advice: "set TMPDIR to a folder on a local disk", cause: .environment)
  }

  deinit { remove() }

  /// The path of a file in it.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Makes a folder in it and returns its path.
  package func makeFolder(_ name: String) throws(SpoolError) -> String {
    let inner = file(name)
    do throws(SystemError) {
      try FileOperations.uncounted.makeNewFolder(inner, mode: 0o700)
    } catch {
      throw SpoolError("make the folder", inner, error, advice: "set TMPDIR to another folder")
    }
    return inner
  }

  package func remove() { FolderRemoval.remove(enclosure) }

  /// The parent folder without links. Swept once, at first use.
  private static let base: String = {
    let base = URL(filePath: ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")
      .resolvingSymlinksInPath().path
    sweep(base)
    return base
  }()

  /// Removes this user's unlocked folders. O(entries of `base`).
  static func sweep(_ base: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: base)) ?? []
    for name in names where name.hasPrefix(prefix) {
      guard let lock = try? lock("\(base)/\(name)") else { continue }
      if (try? lock.stamp)?.owner == geteuid() { FolderRemoval.remove("\(base)/\(name)") }
    }
  }

  /// Locks an existing folder; throws EWOULDBLOCK if another process holds the lock.
  private static func lock(_ path: String) throws(SystemError) -> OpenFile {
    let folder = try OpenFile(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    guard try folder.lock() else { throw SystemError(EWOULDBLOCK) }
    guard try folder.stamp.isSameFile(as: FileStamp(at: path)) else { throw SystemError(ENOENT) }
    return folder
  }
}

/// Removes a folder whose content may resist: unreadable folders, or nesting deeper than a path can
/// name. O(entries).
struct FolderRemoval {
  private let folder: String
  private let files = FileOperations.uncounted
  private var waiting: [String] = []
  private var count = 0

  /// Removes a folder recursively without following links. No process may use it any more.
  static func remove(_ folder: String) {
    if (try? FileManager.default.removeItem(atPath: folder)) != nil { return }
    var removal = FolderRemoval(folder: folder)
    removal.empty(folder)
    while let next = removal.waiting.popLast() {
      removal.empty(next)
      try? removal.files.removeFolder(next)
    }
    try? removal.files.removeFolder(folder)
  }

  private init(folder: String) { self.folder = folder }

  /// Removes what can be removed, and moves nested folders to the top, where their paths are short.
  private mutating func empty(_ path: String) {
    try? files.setMode(0o700, at: path)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      let inner = "\(path)/\(name)"
      if (try? files.unlink(inner)) ?? (try? files.removeFolder(inner)) != nil { continue }
      // Moving a folder requires write permission on it.
      try? files.setMode(0o700, at: inner)
      count += 1
      let place = "\(folder)/\(getpid())-\(count)-\(UUID().uuidString)"
      if (try? files.rename(inner, to: place)) != nil { waiting.append(place) }
    }
  }
}
