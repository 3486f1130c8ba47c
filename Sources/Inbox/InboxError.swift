internal import Glibc

/// Something in or about an inbox that could not be used: what, which, why, and what to do next.
public struct InboxError: Error, Hashable, Sendable {
  /// What kind of trouble it is, which decides how a caller goes on.
  public enum Kind: String, Hashable, Sendable, Codable {
    /// There is nothing of that name.
    case missing
    /// It is a symbolic link, or lies behind one.
    case link
    /// It is a folder where a file is wanted, or a file where a folder is wanted.
    case wrongKind
    /// It is a named pipe, a socket or a device.
    case special
    /// It claims far more bytes than it has on the disk.
    case sparse
    /// It holds more bytes than such a file may.
    case tooLarge
    /// It became something else while it was being opened.
    case changed
    /// It may not be read or watched.
    case denied
    /// The system failed in another way; trying again later may help.
    case system
  }

  /// What kind of trouble it is.
  public let kind: Kind
  /// What was being done: `open`.
  public let action: String
  /// What it was being done to, in a form that can be shown.
  public let path: String
  /// Why it failed, in the system's own words where it has some.
  public let reason: String
  /// What the user can do.
  public let advice: String?

  init(_ kind: Kind, _ action: String, _ path: String, reason: String, advice: String? = nil) {
    self.kind = kind
    self.action = action
    self.path = path
    self.reason = reason
    self.advice = advice
  }

  /// A system call's failure.
  init(_ action: String, _ path: String, _ error: SystemError) {
    let kind: Kind =
      switch error.code {
      case ENOENT: .missing
      case ELOOP, EXDEV: .link
      case ENOTDIR, EISDIR: .wrongKind
      case ENXIO, ENODEV: .special
      case EACCES, EPERM: .denied
      default: .system
      }
    let reason = kind == .link ? "it is a symbolic link or lies behind one" : error.words
    self.init(kind, action, path, reason: reason, advice: error.advice)
  }
}

extension InboxError: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    "cannot \(action) \(path): \(reason)" + (advice.map { " (\($0))" } ?? "")
  }
}
