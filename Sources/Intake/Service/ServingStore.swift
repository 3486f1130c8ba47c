internal import FoundationEssentials
internal import Glibc
import PipelineModel
package import Platform
import Store

/// The store that serves an inbox, recorded in a file in the inbox: with its disk unmounted, a
/// store at the same path is another one, and would process every file in the inbox again.
package struct ServingStore: Codable, Hashable, Sendable {
  /// The name that it got at its creation.
  package let store: String
  /// Its path at that time.
  package let path: String
  /// The inbox's own path at that time; nil in files of older Spools.
  private let inbox: String?

  /// The file's name in the inbox; no inbox takes in files of such names.
  package static let fileName = ".spool-store.json"
  private static let byteLimit: Int64 = 64 << 10

  /// Reads an inbox's file; nil if it is missing or unreadable.
  package init?(of inbox: String) {
    guard
      let bytes = try? FileOperations.system.bytes(
        of: inbox + "/" + Self.fileName, limit: Self.byteLimit),
      let read = try? JSONDecoder().decode(Self.self, from: Data(bytes))
    else { return nil }
    self = read
  }

  private init(store: String, path: String, inbox: String) {
    (self.store, self.path, self.inbox) = (store, path, inbox)
  }

  /// Throws if an inbox belongs to another store, and else records that it is this one's. A
  /// read-only inbox is served without the record. The recordings of an inbox that was moved are
  /// moved along.
  /// - Parameter isAdopting: whether to take the inbox over from another store.
  /// - Returns: where the inbox was before; nil if it was not moved.
  static func claim(
    _ inbox: String, for memory: InboxTable, at path: String, isAdopting: Bool
  ) throws(SpoolError) -> String? {
    let known = ServingStore(of: inbox)
    let own = ServingStore(store: try memory.storeName(), path: path, inbox: inbox)
    let former = known?.inbox.flatMap { $0 != inbox && Self.hasLeft($0, for: inbox) ? $0 : nil }
    // A rebuilt database has another name, and knows its recordings.
    var isKnowing = try memory.hasRecordings(ofInbox: inbox)
    if let former, !isKnowing { isKnowing = try memory.hasRecordings(ofInbox: former) }
    if let known, !isAdopting, known.store != own.store, !isKnowing {
      throw known.refusal(of: inbox, by: path)
    }
    // Before the file says so: after an interruption it is done again.
    if let former { try memory.move(former, to: inbox) }
    if known != own { own.write(to: inbox) }
    return former
  }

  /// Whether an inbox is at its former place no more: it was moved, or is reached by another path.
  /// A copy leaves its original there.
  private static func hasLeft(_ former: String, for inbox: String) -> Bool {
    guard let there = try? FileStamp(following: former) else { return true }
    if (try? FileStamp(following: inbox))?.isSameFile(as: there) == true { return true }
    return ServingStore(of: former) == nil
  }

  /// Why a store must not serve an inbox.
  /// - Parameter path: where the store is, or would be created.
  package func refusal(of inbox: String, by path: String) -> SpoolError {
    SpoolError(
      "another store has served the inbox \(inbox)",
      reason: self.path == path
        ? "the one at \(path) is new; most likely the disk of the old one is not mounted there"
        : "it was served by \(self.path), and \(path) knows none of its recordings",
      advice: "mount the disk or name the old store with \(option: .store); where all that "
        + "lies in the inbox "
        + "is to be taken in anew, \(command: .watch) \(option: .adopt), given once, with "
        + "everything as before",
      cause: .environment)
  }

  private func write(to inbox: String) {
    guard let data = try? JSONEncoder().encode(self) else { return }
    try? FileOperations.system.replace(
      "\(inbox)/\(Self.fileName)", with: Array(data),
      draft: "\(inbox)/.spool-store.\(getpid()).part", mode: 0o666)
  }
}
