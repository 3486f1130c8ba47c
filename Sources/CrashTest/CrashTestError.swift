import Glibc

/// Why a crash test could not be carried out; says nothing on what it would have found.
public struct CrashTestError: Error, Hashable, Sendable {
  /// What failed, on what.
  public let message: String
  /// Why, in the words of whoever knows; nil if the message says it all.
  public let reason: String?
  /// What to do.
  public let advice: String?
  /// The exit code of the undisturbed run where that is what failed.
  public let exitCode: Int32?

  init(_ message: String, reason: String? = nil, advice: String? = nil, exitCode: Int32? = nil) {
    self.message = message
    self.reason = reason
    self.advice = advice
    self.exitCode = exitCode
  }

  /// A system call that just failed, with what it left in `errno`.
  static func system(_ action: String, _ path: String, code: Int32 = errno) -> CrashTestError {
    CrashTestError(
      "cannot \(action) \(path)", reason: unsafe String(cString: strerror(code)),
      advice: code == ENOSPC ? "choose another folder with --scratch" : nil)
  }
}
