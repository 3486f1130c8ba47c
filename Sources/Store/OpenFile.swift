import Glibc

/// An open file with one owner, which closes it.
struct OpenFile: ~Copyable, Sendable {
  /// The number that the system knows it by.
  let descriptor: CInt
  /// The path that it was opened at.
  let path: String

  deinit { close(descriptor) }

  /// What the system says of it now.
  var stamp: FileStamp {
    get throws(SystemError) {
      var status = stat()
      guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
      return FileStamp(status)
    }
  }

  /// Takes the file's lock, which the system gives back when its holder dies.
  /// - Returns: false if somebody else holds it.
  func tryLock() -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    // A file system without locks must not stop anybody: whose a file is says its name then.
    return errno != EWOULDBLOCK
  }

  /// Gives the file's lock back, also where a child that is just being started holds the file open
  /// for another moment.
  func unlock() { flock(descriptor, LOCK_UN) }
}
