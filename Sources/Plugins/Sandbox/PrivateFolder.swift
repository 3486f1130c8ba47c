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
  private let lock: Int32

  /// The name prefix of all such folders.
  static let prefix = "spool-private-"

  /// Makes a folder in `TMPDIR`, or else in `/tmp`.
  /// - Parameters:
  ///   - name: its name.
  ///   - user: what it is for, in error messages: `the plugin softclip 1.0.0`.
  package init(_ name: String = "plugin", for user: String) throws(SpoolError) {
    let base = Self.base
    for _ in 0..<16 {
      var template = Array("\(base)/\(Self.prefix)\(name)-XXXXXX".utf8CString)
      guard unsafe mkdtemp(&template) != nil else {
        throw SpoolError(
          "cannot make a folder for \(user) in \(base)",
          reason: unsafe String(cString: strerror(errno)),
          advice: "make room in \(base), or set TMPDIR", cause: .environment)
      }
      let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // Another process may have swept it before it was locked.
      guard let lock = Self.lock(made) else { continue }
      enclosure = made
      path = "\(made)/own"
      self.lock = lock
      guard unsafe mkdir(path, 0o700) == 0 else {
        throw SpoolError(
          "cannot make a folder for \(user) in \(made)",
          reason: unsafe String(cString: strerror(errno)),
          advice: "make room in \(base), or set TMPDIR", cause: .environment)
      }
      return
    }
    throw SpoolError(
      "cannot lock a folder for \(user) in \(base)",
      reason: unsafe String(cString: strerror(errno)),
      advice: "set TMPDIR to a folder on a local disk", cause: .environment)
  }

  deinit {
    remove()
    close(lock)
  }

  /// The path of a file in it.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Makes a folder in it and returns its path.
  package func makeFolder(_ name: String) throws(SpoolError) -> String {
    let inner = file(name)
    guard unsafe mkdir(inner, 0o700) == 0 else {
      throw SpoolError(
        "cannot make the folder \(inner)", reason: unsafe String(cString: strerror(errno)),
        advice: "make room there, or set TMPDIR", cause: .environment)
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
      guard let lock = lock("\(base)/\(name)") else { continue }
      var status = stat()
      if unsafe fstat(lock, &status) == 0, status.st_uid == geteuid() {
        FolderRemoval.remove("\(base)/\(name)")
      }
      close(lock)
    }
  }

  /// Locks an existing folder; nil if another process holds the lock.
  private static func lock(_ path: String) -> Int32? {
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard folder >= 0 else { return nil }
    var (held, found) = (stat(), stat())
    guard flock(folder, LOCK_EX | LOCK_NB) == 0, unsafe fstat(folder, &held) == 0,
      unsafe lstat(path, &found) == 0, held.st_ino == found.st_ino, held.st_dev == found.st_dev
    else {
      close(folder)
      return nil
    }
    return folder
  }
}

/// Removes a folder whose content may resist: unreadable folders, or nesting deeper than a path can
/// name. O(entries).
struct FolderRemoval {
  private let folder: String
  private var waiting: [String] = []
  private var count = 0

  /// Removes a folder recursively without following links. No process may use it any more.
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

  /// Removes what can be removed, and moves nested folders to the top, where their paths are short.
  private mutating func empty(_ path: String) {
    unsafe chmod(path, 0o700)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
      let inner = "\(path)/\(name)"
      if unsafe unlink(inner) == 0 || rmdir(inner) == 0 { continue }
      // Moving a folder requires write permission on it.
      unsafe chmod(inner, 0o700)
      count += 1
      let place = "\(folder)/\(getpid())-\(count)-\(UUID().uuidString)"
      if unsafe rename(inner, place) == 0 { waiting.append(place) }
    }
  }
}
