internal import Glibc
import Platform

/// File access for keys: no links are followed, writes are atomic, and secret files are readable by
/// their owner only.
enum KeyFile {
  /// Bytes of the longest key file.
  private static let maximumByteCount = 64 << 10

  /// The content of a file; nil if there is none.
  /// - Parameters:
  /// - isSecret: whether a file readable by others is refused.
  /// - followsLinks: only for paths named by the user.
  static func read(
    _ path: String, isSecret: Bool, followsLinks: Bool = false
  ) throws(SpoolError) -> SecretBytes? {
    let opened = try calling("read", path) { () throws(SystemError) -> OpenFile? in
      do throws(SystemError) {
        return try OpenFile(path, O_RDONLY | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
      } catch {
        if error.code == ENOENT { return nil }
        throw error
      }
    }
    guard let file = opened else { return nil }
    let stamp = try calling("read", path) { () throws(SystemError) in try file.stamp }
    guard stamp.isRegularFile, stamp.byteCount <= maximumByteCount else {
      throw SpoolError(
        "cannot read the key \(path)", reason: "it is no file that a key lies in", cause: .blocked)
    }
    if isSecret { try checkSecret(path, stamp) }
    return try calling("read", path) { () throws(SystemError) in
      try unsafe SecretBytes(capacity: Int(stamp.byteCount)) { (room) throws(SystemError) in
        try unsafe file.fill(room)
      }
    }
  }

  private static func checkSecret(_ path: String, _ stamp: FileStamp) throws(SpoolError) {
    guard stamp.owner == geteuid() else {
      throw SpoolError(
        "the signing key \(path) is not used", reason: "it belongs to another user",
        advice: "name a folder of your own with \(option: .keys)", cause: .blocked)
    }
    guard stamp.permissions & 0o077 == 0 else {
      throw SpoolError(
        "the signing key \(path) is not used",
        reason: "others may have read it: its permissions are \(octal(stamp.permissions))",
        advice: "chmod 600 \(path), or make a new key with \(command: .keyRotate) after that",
        cause: .blocked)
    }
  }

  /// Refuses folders in which others could replace the user's keys. Missing ones pass.
  static func checkFolders(_ paths: [String]) throws(SpoolError) {
    for path in paths {
      guard let stamp = try? FileStamp(following: path) else { continue }
      guard [geteuid(), 0].contains(stamp.owner) else {
        throw SpoolError(
          "the keys in \(path) are not used", reason: "the folder belongs to another user",
          advice: "name a folder of your own with \(option: .keys)", cause: .blocked)
      }
      guard stamp.permissions & 0o022 == 0 else {
        throw SpoolError(
          "the keys in \(path) are not used",
          reason: "others may have changed them: the folder's permissions are "
            + octal(stamp.permissions),
          advice: "chmod 700 \(path), and look with \(command: .keyShow) whose keys are in it",
          cause: .blocked)
      }
    }
  }

  /// Writes a file readable by its owner only, durably and atomically.
  /// - Parameter isReplacing: whether it may replace a file.
  /// - Returns: false if there is one and it is not replaced.
  static func write(
    _ text: SecretBytes, to path: String, replacing isReplacing: Bool
  ) throws(SpoolError) -> Bool {
    let temporary = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
    let isWritten = try calling("write", path) { () throws(SystemError) in
      let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      defer { remove(temporary) }
      try unsafe text.withUnsafeBytes { (bytes) throws(SystemError) in try unsafe file.put(bytes) }
      try file.flushAll()
      do throws(SystemError) {
        try isReplacing ? files.rename(temporary, to: path) : files.link(temporary, to: path)
      } catch {
        if isReplacing || error.code != EEXIST { throw error }
        return false
      }
      return true
    }
    if isWritten { try flushFolder(of: path) }
    return isWritten
  }

  /// Makes a folder accessible to its owner only, and its parents.
  static func makeFolder(_ path: String) throws(SpoolError) {
    do throws(SystemError) { try files.makeNewFolder(path, mode: 0o700) } catch {
      if error.code == EEXIST { return }
      guard error.code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex
      else { throw failure("make", path, error) }
      try makeFolder(String(path[..<slash]))
      try calling("make", path) { () throws(SystemError) in
        try files.makeFolder(path, mode: 0o700)
      }
    }
    try flushFolder(of: path)
  }

  static func remove(_ path: String) { try? files.unlink(path) }

  private static func flushFolder(of path: String) throws(SpoolError) {
    let slash = path.lastIndex(of: "/")
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let folder = try calling("open", parent) { () throws(SystemError) in
      try OpenFile(parent, O_RDONLY | O_DIRECTORY)
    }
    try calling("flush", parent) { () throws(SystemError) in try folder.flushAll() }
  }

  static func octal(_ mode: mode_t) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private static let files = FileOperations.uncounted

  private static func calling<Result: ~Copyable>(
    _ action: String, _ path: String, _ calls: () throws(SystemError) -> Result
  ) throws(SpoolError) -> Result {
    do { return try calls() } catch { throw failure(action, path, error) }
  }

  private static func failure(
    _ action: String, _ path: String, _ error: SystemError
  ) -> SpoolError {
    SpoolError(
      action, path, error,
      advice: "choose the folder of the keys with \(option: .keys) or SPOOL_KEYS", cause: .blocked)
  }
}
