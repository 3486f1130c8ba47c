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

  /// Whether a file of such a name may be a recording that never got its own name.
  public enum Suspicion: Hashable, Sendable {
    /// It is none.
    case none
    /// It may be one where its name ends as those of recordings do, or of commands.
    case ifOfSound
    /// It may be one.
    case always
  }

  /// The names, as fnmatch(3) reads them; small letters stand for capitals as well.
  public let pattern: String
  /// What the rule speaks of.
  public let subject: Subject
  /// Why such a thing is never touched.
  public let reason: String
  /// Whether a file of such a name may be a recording.
  public let suspicion: Suspicion

  /// Declares a rule.
  public init(
    _ pattern: String, _ subject: Subject = .anything, hiding suspicion: Suspicion = .none,
    because reason: String
  ) {
    self.suspicion = suspicion
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
