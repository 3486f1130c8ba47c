import Glibc

/// A failed system call, by its `errno`, which is classified only here.
package struct SystemError: Error, Hashable, Sendable {
  package let code: CInt

  package init(_ code: CInt) { self.code = code }

  package static var last: SystemError { SystemError(errno) }

  package static let fullDisk = SystemError(ENOSPC)
  package static let missing = SystemError(ENOENT)

  /// The system's own words: `No space left on device`.
  package var words: String { unsafe String(cString: strerror(code)) }

  /// The reason for a user: the system's own words, except for links, which they describe badly.
  var reason: String {
    kind == .link ? "it is a symbolic link that is not followed, or a loop of links" : words
  }

  /// Whether a disk, or the user's share of it, is full.
  package var isFullDisk: Bool { code == ENOSPC || code == EDQUOT }

  package var kind: SpoolError.Kind {
    switch code {
    case ENOENT: .missing
    case ELOOP, EXDEV: .link
    case ENOTDIR, EISDIR: .wrongKind
    case ENXIO, ENODEV: .special
    case EACCES, EPERM: .denied
    default: .system
    }
  }

  /// Nil if the words suffice.
  package var advice: String? {
    switch code {
    case ENOENT, ENOTDIR: "check the path"
    case ENOSPC, EDQUOT: "free some space there, then try again"
    case EACCES, EPERM: "check who owns it and its permissions"
    case EROFS: "it lies on a read-only file system: choose a folder that can be written"
    case EIO:
      "the disk may be failing: dmesg says more; copy what matters elsewhere, then try again"
    case EMFILE, ENFILE: "too many files are open: raise the limit with ulimit -n"
    case ENAMETOOLONG: "choose a shorter name"
    default: nil
    }
  }

  /// The result of a call that returns -1 on failure; repeated after EINTR.
  @discardableResult
  package static func check<Count: SignedInteger>(
    _ call: () -> Count
  ) throws(SystemError) -> Count {
    while true {
      let result = call()
      if result >= 0 { return result }
      let error = SystemError.last
      if error.code != EINTR { throw error }
    }
  }
}

/// Runs the system calls of one action on a file, and names both in an error.
package func doing<Result: ~Copyable>(
  _ action: String, _ path: String, advice: String? = nil,
  _ calls: () throws(SystemError) -> Result
) throws(SpoolError) -> Result {
  do {
    return try calls()
  } catch {
    throw SpoolError(action, path, error, advice: advice)
  }
}
