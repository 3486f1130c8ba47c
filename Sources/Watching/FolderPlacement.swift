/// Where the folders of a watch lie to each other. A recording that Spool itself writes must never
/// arrive in an inbox, or it would be processed, and what comes of that, for ever.
public struct FolderPlacement: Sendable {
  /// A folder and what it is there for: `the output folder /srv/out`.
  public struct Folder: Hashable, Sendable {
    /// An absolute path without links in it.
    public let path: String
    /// What it is there for.
    public let role: String

    /// Names a folder.
    public init(_ path: String, role: String) {
      self.path = path
      self.role = role
    }
  }

  /// Two folders that may not lie so.
  public struct Conflict: Hashable, Sendable {
    /// The place of the inbox in the list of inboxes.
    public let inbox: Int
    /// What is wrong, as one sentence.
    public let message: String
  }

  /// Everything that is wrong. O(n²).
  /// - Parameters:
  ///   - inboxes: the inboxes' paths, absolute and without links in them.
  ///   - others: the folders that Spool writes into.
  public static func conflicts(inboxes: [String], others: [Folder]) -> [Conflict] {
    var found: [Conflict] = []
    for (index, inbox) in inboxes.enumerated() {
      for earlier in inboxes[..<index] where overlap(inbox, earlier) {
        found.append(
          Conflict(
            inbox: index,
            message: inbox == earlier
              ? "the inbox \(inbox) is named twice"
              : "the inboxes \(earlier) and \(inbox) lie in one another"))
      }
      for other in Set(others).sorted(by: { ($0.path, $0.role) < ($1.path, $1.role) })
      where overlap(inbox, other.path) {
        found.append(
          Conflict(
            inbox: index,
            message: isWithin(other.path, inbox)
              ? "\(other.role) \(other.path) lies in the inbox \(inbox)"
              : "the inbox \(inbox) lies in \(other.role) \(other.path)"))
      }
    }
    return found
  }

  private static func overlap(_ a: String, _ b: String) -> Bool { isWithin(a, b) || isWithin(b, a) }

  private static func isWithin(_ path: String, _ folder: String) -> Bool {
    path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
  }
}
