import FoundationEssentials
import Glibc
public import PipelineModel

/// A new folder for one piece of a plugin's work, which nobody else can look into: whatever the plugin
/// does to its permissions, it lies in another that is Spool's alone. It goes, with all that is in it,
/// when it is removed or nobody refers to it any more.
///
/// A lock is held on it meanwhile. The kernel frees that when Spool ends, however it ends: folders
/// without one were left by a Spool that was killed, and go when the next one makes its first.
public final class PrivateFolder: Sendable {
  /// The folder, an absolute path.
  public let path: String
  /// The folder around it.
  private let enclosure: String
  private let lock: Int32

  /// What the names of all such folders begin with.
  static let prefix = "spool-private-"

  /// Makes one in `TMPDIR`, or else in `/tmp`.
  /// - Parameters:
  ///   - name: what it is called, for people who look there.
  ///   - user: what it is for, for people: `the plugin softclip 1.0.0`.
  public init(_ name: String = "plugin", for user: String) throws(StageError) {
    let base = Self.base
    for _ in 0..<16 {
      var template = Array("\(base)/\(Self.prefix)\(name)-XXXXXX".utf8CString)
      guard unsafe mkdtemp(&template) != nil else {
        throw StageError(
          "cannot make a folder for \(user) in \(base)",
          reason: unsafe String(cString: strerror(errno)),
          advice: "make room in \(base), or set TMPDIR", cause: .environment)
      }
      let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      // Another Spool may have taken it for a lost one before it was locked.
      guard let lock = Self.lock(made) else { continue }
      enclosure = made
      path = "\(made)/own"
      self.lock = lock
      guard unsafe mkdir(path, 0o700) == 0 else {
        throw StageError(
          "cannot make a folder for \(user) in \(made)",
          reason: unsafe String(cString: strerror(errno)),
          advice: "make room in \(base), or set TMPDIR", cause: .environment)
      }
      return
    }
    throw StageError(
      "cannot lock a folder for \(user) in \(base)",
      reason: unsafe String(cString: strerror(errno)),
      advice: "set TMPDIR to a folder on a local disk", cause: .environment)
  }

  deinit {
    remove()
    close(lock)
  }

  /// The path of a file in it.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Makes a folder in it.
  /// - Returns: its path.
  public func makeFolder(_ name: String) throws(StageError) -> String {
    let inner = file(name)
    guard unsafe mkdir(inner, 0o700) == 0 else {
      throw StageError(
        "cannot make the folder \(inner)", reason: unsafe String(cString: strerror(errno)),
        advice: "make room there, or set TMPDIR", cause: .environment)
    }
    return inner
  }

  /// Removes it.
  public func remove() { FolderRemoval.remove(enclosure) }

  /// Where they are made, without links; what was lost there is removed first, once.
  private static let base: String = {
    let base = URL(filePath: ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")
      .resolvingSymlinksInPath().path
    sweep(base)
    return base
  }()

  /// Removes the folders of this user that nobody has locked. O(entries of `base`).
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

  /// Locks a folder that is there still; nil where another has.
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
