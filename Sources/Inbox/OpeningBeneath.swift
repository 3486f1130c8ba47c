internal import CPosix
import Glibc

/// Opens what lies beneath a folder: no link is followed, and nothing outside is reached, even
/// while somebody exchanges folders for links.
enum OpeningBeneath: Sendable {
  /// By openat2(2), where the kernel promises it (Linux 5.6).
  case kernel
  /// One name after the other, each without following a link: for older kernels, and for
  /// containers that forbid calls they do not know.
  case stepwise

  /// Opens `path` with the flags of open(2), relative to an open folder.
  func open(_ folder: CInt, _ path: InboxPath, _ flags: CInt) throws(SystemError) -> Descriptor {
    // Beside O_PATH, openat2(2) takes no flag that is about opened files.
    let isOpened = flags & posix_path_only() == 0
    let flags = flags | O_CLOEXEC | O_NOFOLLOW | (isOpened ? O_NOCTTY : 0)
    switch self {
    case .kernel: return try openByKernel(folder, path, flags)
    case .stepwise: return try openByName(folder, path, flags)
    }
  }

  private func openByKernel(
    _ folder: CInt, _ path: InboxPath, _ flags: CInt
  ) throws(SystemError) -> Descriptor {
    // EAGAIN: something was renamed meanwhile, and the kernel could not be sure.
    for _ in 0..<8 {
      let number = unsafe path.withCString { unsafe posix_open_beneath(folder, $0, flags) }
      if number >= 0 { return Descriptor(number) }
      let error = SystemError.last
      switch error.code {
      case EAGAIN, EINTR: continue
      case ENOSYS, EPERM: return try openByName(folder, path, flags)
      default: throw error
      }
    }
    throw SystemError(code: EAGAIN)
  }

  private func openByName(
    _ folder: CInt, _ path: InboxPath, _ flags: CInt
  ) throws(SystemError) -> Descriptor {
    var names = path.names
    guard let last = names.popLast() else { return try openNext(folder, .inbox, flags) }
    let passing = posix_path_only() | O_NOFOLLOW | O_CLOEXEC
    var parent = try openNext(folder, .inbox, passing)
    for name in names {
      parent = try openNext(parent.number, InboxPath.inbox.appending(name), passing)
      if FileStamp(try parent.status()).kind == .link { throw SystemError(code: ELOOP) }
    }
    return try openNext(parent.number, InboxPath.inbox.appending(last), flags)
  }

  /// Opens one name, which is no path.
  private func openNext(
    _ folder: CInt, _ name: InboxPath, _ flags: CInt
  ) throws(SystemError) -> Descriptor {
    let number = try SystemError.check {
      unsafe name.withCString { unsafe openat(folder, $0, flags) }
    }
    return Descriptor(number)
  }
}
