internal import Sidecars
internal import Glibc

/// Names that the inbox leaves alone, and why.
public struct NameRule: Hashable, Sendable {
  /// What a rule speaks of.
  public enum Subject: Hashable, Sendable {
    /// Files and folders anywhere.
    case anything
    /// Folders anywhere, with all that is in them.
    case folder
    /// Folders directly in the inbox, with all that is in them.
    case topFolder
  }

  /// The names, as fnmatch(3) reads them; small letters stand for capitals as well.
  public let pattern: String
  /// What the rule speaks of.
  public let subject: Subject
  /// Why such a thing is never touched.
  public let reason: String

  /// Declares a rule.
  public init(_ pattern: String, _ subject: Subject = .anything, because reason: String) {
    self.pattern = pattern
    self.subject = subject
    self.reason = reason
  }

  /// Whether the rule speaks of a thing called `name` in `folder`.
  func applies(to name: FileName, in folder: InboxPath, isFolder: Bool) -> Bool {
    switch subject {
    case .anything: break
    case .folder: guard isFolder else { return false }
    case .topFolder: guard isFolder, folder == .inbox else { return false }
    }
    let lowered = name.bytes.map(\.asciiLowercase) + [0]
    return unsafe lowered.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      return unsafe fnmatch(pattern, base.assumingMemoryBound(to: CChar.self), 0) == 0
    }
  }
}
