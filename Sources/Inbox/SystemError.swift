import Glibc

/// A system call that failed: its error number, which the system has words for.
struct SystemError: Error, Hashable {
  /// The value of `errno`.
  let code: CInt

  /// What the call that just failed left in `errno`.
  static var last: SystemError { SystemError(code: errno) }

  /// The system's own words: `Permission denied`.
  var words: String { unsafe String(cString: strerror(code)) }

  /// What a user can do about it; nil where the words say all there is.
  var advice: String? {
    switch code {
    case EACCES, EPERM: "check who owns it and its permissions"
    case EMFILE, ENFILE: "too many files are open: raise the limit with ulimit -n"
    case ENOSPC: "raise fs.inotify.max_user_watches; until then the folder is looked through"
    case EIO: "the disk reports errors: check it before going on"
    default: nil
    }
  }

  /// The result of a call that gives -1 where it fails; made again while a signal cuts it off.
  @discardableResult
  static func check<Count: SignedInteger>(_ call: () -> Count) throws(SystemError) -> Count {
    while true {
      let result = call()
      if result >= 0 { return result }
      let error = SystemError.last
      if error.code != EINTR { throw error }
    }
  }
}
