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
    let flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW)
    let file = unsafe open(path, flags)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("read", path, errno)
    }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw failure("read", path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= maximumByteCount else {
      throw SpoolError(
        "cannot read the key \(path)", reason: "it is no file that a key lies in", cause: .blocked)
    }
    if isSecret { try checkSecret(path, status) }
    var count = 0
    let bytes = unsafe SecretBytes(capacity: Int(status.st_size)) { room in
      count = unsafe Glibc.read(file, room.baseAddress, Int(status.st_size))
      return count
    }
    guard count >= 0 else { throw failure("read", path, errno) }
    return bytes
  }

  private static func checkSecret(_ path: String, _ status: stat) throws(SpoolError) {
    guard status.st_uid == geteuid() else {
      throw SpoolError(
        "the signing key \(path) is not used", reason: "it belongs to another user",
        advice: "name a folder of your own with \(option: .keys)", cause: .blocked)
    }
    let others = status.st_mode & 0o077
    guard others == 0 else {
      throw SpoolError(
        "the signing key \(path) is not used",
        reason: "others may have read it: its permissions are \(octal(status.st_mode & 0o777))",
        advice: "chmod 600 \(path), or make a new key with \(command: .keyRotate) after that",
        cause: .blocked)
    }
  }

  /// Refuses folders in which others could replace the user's keys. Missing ones pass.
  static func checkFolders(_ paths: [String]) throws(SpoolError) {
    for path in paths {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { continue }
      guard [geteuid(), 0].contains(status.st_uid) else {
        throw SpoolError(
          "the keys in \(path) are not used", reason: "the folder belongs to another user",
          advice: "name a folder of your own with \(option: .keys)", cause: .blocked)
      }
      guard status.st_mode & 0o022 == 0 else {
        throw SpoolError(
          "the keys in \(path) are not used",
          reason: "others may have changed them: the folder's permissions are "
            + octal(status.st_mode & 0o777),
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
    let file = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("write", path, errno) }
    defer { unsafe unlink(temporary) }
    do {
      defer { close(file) }
      let count = unsafe text.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      guard count == text.count, fsync(file) == 0 else {
        throw failure("write", path, errno)
      }
    }
    if isReplacing {
      guard unsafe rename(temporary, path) == 0 else { throw failure("write", path, errno) }
    } else if unsafe link(temporary, path) != 0 {
      if errno == EEXIST { return false }
      throw failure("write", path, errno)
    }
    try flushFolder(of: path)
    return true
  }

  /// Makes a folder accessible to its owner only, and its parents.
  static func makeFolder(_ path: String) throws(SpoolError) {
    if unsafe mkdir(path, 0o700) == 0 { return try flushFolder(of: path) }
    switch errno {
    case EEXIST: return
    case ENOENT:
      guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { fallthrough }
      try makeFolder(String(path[..<slash]))
      guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { fallthrough }
      try flushFolder(of: path)
    default: throw failure("make", path, errno)
    }
  }

  static func remove(_ path: String) { unsafe unlink(path) }

  private static func flushFolder(of path: String) throws(SpoolError) {
    let slash = path.lastIndex(of: "/")
    let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let folder = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw failure("open", parent, errno) }
    defer { close(folder) }
    guard fsync(folder) == 0 else { throw failure("flush", parent, errno) }
  }

  static func octal(_ mode: mode_t) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private static func failure(_ action: String, _ path: String, _ code: Int32) -> SpoolError {
    SpoolError(
      "cannot \(action) \(path)", reason: unsafe String(cString: strerror(code)),
      advice: "choose the folder of the keys with \(option: .keys) or SPOOL_KEYS", cause: .blocked)
  }
}
