import Glibc

/// A system call that failed: its error number, which the system has words for.
struct SystemError: Error, Hashable {
  /// The value of `errno`.
  let code: CInt

  init(_ code: CInt) { self.code = code }

  /// What the call that just failed left in `errno`.
  static var last: SystemError { SystemError(errno) }

  /// The system's own words: `No space left on device`.
  var words: String { unsafe String(cString: strerror(code)) }

  /// Whether a disk, or the user's share of it, is full.
  var isFullDisk: Bool { code == ENOSPC || code == EDQUOT }

  /// What a user can do about it; nil where the words say all there is.
  var advice: String? {
    switch code {
    case ENOENT, ENOTDIR: "check the path"
    case ENOSPC, EDQUOT: "free some space, or put the store on another disk with --store"
    case EACCES, EPERM: "check who owns it and its permissions"
    case EROFS: "it lies on a read-only file system: choose a folder that can be written"
    case EIO:
      "the disk may be failing: dmesg says more; copy what matters elsewhere, then try again"
    case EMFILE, ENFILE: "too many files are open: raise the limit with ulimit -n"
    case ENAMETOOLONG: "choose a shorter name"
    default: nil
    }
  }
}
