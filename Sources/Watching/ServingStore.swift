internal import FoundationEssentials
internal import Glibc
public import PipelineModel

/// The store that serves an inbox, noted in the inbox: where its disk is not mounted, a store at the
/// same path is another one, and would process all that still lies there once more.
public struct ServingStore: Codable, Hashable, Sendable {
  /// The name that it was given when it was made.
  public let store: String
  /// Where it was then.
  public let path: String

  /// The file's name in the inbox; no inbox takes files of such names in.
  public static let fileName = ".spool-store.json"
  private static let byteLimit = 64 << 10

  /// What an inbox says; nil where it says nothing that can be read.
  public init?(of inbox: String) {
    let descriptor = unsafe open(
      inbox + "/" + Self.fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: Self.byteLimit)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    guard count > 0,
      let read = try? JSONDecoder().decode(Self.self, from: Data(bytes.prefix(count)))
    else { return nil }
    self = read
  }

  private init(store: String, path: String) {
    (self.store, self.path) = (store, path)
  }

  /// Makes sure that an inbox is not another store's, and notes that it is this one's. An inbox that
  /// cannot be written to is served without the note.
  /// - Parameter isAdopting: whether it is this one's from now on, whoever has served it.
  static func claim(
    _ inbox: String, for memory: any InboxMemory, at path: String, isAdopting: Bool
  ) throws(StageError) {
    let own: ServingStore
    let isKnowing: Bool
    let known = ServingStore(of: inbox)
    do throws(StoreError) {
      own = ServingStore(store: try memory.storeName(), path: path)
      // A database that had to be made again has another name, and knows its recordings.
      isKnowing = try memory.hasNotes(ofInbox: inbox)
    } catch { throw StageError(error) }
    if let known, !isAdopting, known.store != own.store, !isKnowing {
      throw known.refusal(of: inbox, by: path)
    }
    if known != own { own.write(to: inbox) }
  }

  /// Why a store must not serve an inbox.
  /// - Parameter path: where the store lies, or would be made.
  public func refusal(of inbox: String, by path: String) -> StageError {
    StageError(
      "another store has served the inbox \(inbox)",
      reason: self.path == path
        ? "the one at \(path) is new; most likely the disk of the old one is not mounted there"
        : "it was served by \(self.path), and \(path) knows none of its recordings",
      advice: "mount the disk or name the old store with --store; where all that lies in the inbox "
        + "is to be taken in anew, spool watch --adopt, given once, with everything as before",
      cause: .environment)
  }

  private func write(to inbox: String) {
    guard let data = try? JSONEncoder().encode(self) else { return }
    let draft = "\(inbox)/.spool-store.\(getpid()).part"
    let path = "\(inbox)/\(Self.fileName)"
    do {
      try data.write(to: URL(filePath: draft))
      if unsafe rename(draft, path) != 0 { unsafe unlink(draft) }
    } catch {
      unsafe unlink(draft)
    }
  }
}
