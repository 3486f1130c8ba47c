/// What could not be done: the action, its subject, why, and what the user can do. The one error type
/// for everything that a user may see.
package struct SpoolError: Error, Hashable, Sendable {
  /// Who can change the outcome, which decides whether and when the work is tried again.
  package enum Cause: String, Hashable, Sendable, Codable {
    /// The recording or a parameter: another attempt has the same outcome.
    case input
    /// The surroundings (no permission, a folder gone): another attempt later may succeed.
    case environment
    /// A disk is full: with room on it, the same work resumes.
    case fullDisk
    /// Only the owner can mend it (the signing key, the transparency log); then the same work resumes.
    case blocked
    /// Another process does this work since this one was stopped: its results can be reused.
    case takenOver = "taken-over"
    /// A passing condition (network, busy): another attempt soon may succeed.
    case transient
    /// The user asked to stop.
    case cancelled
  }

  /// The kind of the error of a file or a command line, for callers that decide by it.
  package enum Kind: String, Hashable, Sendable, Codable {
    case missing
    /// It is a symbolic link, or lies behind one.
    case link
    /// It is a folder where a file is wanted, or a file where a folder is wanted.
    case wrongKind
    case special
    /// It claims far more bytes than it has on the disk.
    case sparse
    /// It is larger than such a file may be.
    case tooLarge
    /// What is to be written will not fit on the disk; nothing was begun.
    case noRoom
    /// A newer Spool has changed the format of it.
    case newer
    /// It became something else while it was being opened or read.
    case changed
    case denied
    /// Another file has the name, and may not be replaced.
    case occupied
    /// Another system error; another attempt later may succeed.
    case system
    /// Its signature or digest does not match.
    case broken
    /// A text file has errors, which the reason shows, each under its line.
    case invalid
    /// The command line is wrong.
    case usage
    /// A plugin did not answer in time, or a server cannot be connected to.
    case unanswered
    /// A plugin reported the failure itself.
    case reported
    /// No failure: the recording needs no more work, as a duplicate of another one.
    case unneeded
  }

  /// What was being done: `write`, if ``subject`` names the object; else the whole statement.
  package private(set) var action: String
  /// The printable file or folder; nil if ``action`` is the whole statement.
  package var subject: String?
  /// In the library's or the system's own words if it has some.
  package private(set) var reason: String?
  /// What the user can do.
  package let advice: String?
  package let cause: Cause
  /// Nil if no caller decides by it.
  package let kind: Kind?
  /// The wrong parameters of the step, if known: all of them at once.
  package var faults: [ParameterFault] = []
  /// What it happened in, the outermost first: the step, the file. The message begins with it.
  package var scope: [String] = []
  /// Further errors, so that everything is reported at once.
  package var others: [SpoolError] = []

  /// The error with one more fact behind its reason.
  package func noting(_ fact: String) -> SpoolError {
    var error = self
    error.reason = [reason, fact].compactMap(\.self).joined(separator: "; ")
    return error
  }

  /// With a whole statement as its message.
  package init(
    _ message: String, reason: String? = nil, advice: String? = nil, cause: Cause = .input,
    kind: Kind? = nil
  ) {
    action = message
    subject = nil
    self.reason = reason
    self.advice = advice
    self.cause = cause
    self.kind = kind
  }

  /// For an action on a file or folder. A full disk has the same words wherever it was met: the
  /// statement names the disk, and the action is the reason.
  package init(
    _ action: String, _ subject: String, reason: String?, advice: String? = nil,
    cause: Cause = .environment, kind: Kind? = nil
  ) {
    self.subject = subject
    self.cause = cause
    self.kind = kind
    if cause == .fullDisk {
      let path = FilePath.absolute(subject)
      // A folder may be where the disk is mounted.
      let isFolder = (try? FileStamp(following: path))?.isFolder == true
      self.action = "the disk of \(isFolder ? path : FilePath.folder(of: path)) is full"
      self.reason = "cannot \(action) \(subject)" + (reason.map { ": \($0)" } ?? "")
      self.advice = SystemError.fullDisk.advice
    } else {
      self.action = action
      self.reason = reason
      self.advice = advice
    }
  }

  /// For a system call. `errno` decides kind and default advice, and overrides the cause on a full
  /// disk.
  package init(
    _ action: String, _ subject: String, _ error: SystemError, advice: String? = nil,
    cause: Cause = .environment
  ) {
    self.init(
      action, subject, reason: error.reason, advice: advice ?? error.advice,
      cause: error.isFullDisk ? .fullDisk : cause, kind: error.kind)
  }

  /// `cannot write /out/a.wav`, or `the disk of /out is full`.
  package var message: String {
    let named =
      isFullDisk ? nil : subject.map { "cannot \(action) \(ShellWords.visible(path: $0))" }
    return (scope + [named ?? action]).joined(separator: ": ")
  }

  package var path: String { subject ?? "" }

  package var why: String { reason ?? "" }

  package var isFullDisk: Bool { cause == .fullDisk }

  /// What failed and why, in one line; with the advice if the surroundings are the cause, which
  /// only the user can change.
  package var account: String {
    let isMendable = [.environment, .transient, .blocked].contains(cause)
    return message + (reason.map { ": \($0)" } ?? "")
      + (isMendable ? advice.map { "; \($0)" } ?? "" : "")
  }

  /// The first of several errors, with the others; nil if there are none.
  package static func all(_ errors: [SpoolError]) -> SpoolError? {
    guard var first = errors.first else { return nil }
    first.others += errors.dropFirst()
    return first
  }

  package static let cancelled = SpoolError("stopped", cause: .cancelled)

  /// One wrong parameter of a step.
  package struct ParameterFault: Hashable, Sendable {
    /// The keys of its path: `["controls", "gain"]`.
    package let path: [String]
    package let message: String
    /// A value that is probably right; nil if none is known.
    package let remedy: String?

    package init(at path: [String], _ message: String, remedy: String? = nil) {
      self.path = path
      self.message = message
      self.remedy = remedy
    }
  }

  /// The same error with other names for files, by path, in all of its texts.
  package func naming(_ names: [String: String]) -> SpoolError {
    let names = names.sorted { $0.key.count > $1.key.count }
    func named(_ text: String) -> String {
      names.reduce(text) { text, name in text.replacing(name.key, with: name.value) }
    }
    var error = self
    error.action = named(action)
    error.subject = subject.map(named)
    error.reason = reason.map(named)
    error.scope = scope.map(named)
    return error
  }

  /// The same error, attributed to one parameter of the step.
  package func located(at path: [String]) -> SpoolError {
    var error = self
    if let reason, faults.isEmpty { error.faults = [ParameterFault(at: path, reason)] }
    return error
  }
}

extension SpoolError: CustomStringConvertible {
  package var description: String {
    message + (reason.map { ": \($0)" } ?? "") + (advice.map { " (\($0))" } ?? "")
  }
}
