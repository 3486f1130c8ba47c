internal import Glibc

/// The right to be the only one at an inbox, whatever its path is called here and whichever store
/// the others have: a lock on the folder itself, which the kernel takes back from a process that
/// dies. It writes nothing into the inbox, where programs would carry it to other machines.
final class InboxClaim: Sendable {
  private let folder: Descriptor
  private let identity: FolderIdentity

  /// Takes the right to a folder that is open.
  /// - Throws: a `CustodyError` where another process has it, or watches a folder around it or in
  ///   it, with the process's number if that can be told. A file system that knows no locks, such as some network mounts, gives it to all.
  init(_ opened: consuming Descriptor, path: String) throws(CustodyError) {
    let folder = opened
    let identity: FolderIdentity
    do throws(SystemError) {
      identity = FolderIdentity(try folder.status())
    } catch {
      throw CustodyError("look at the inbox", path, error)
    }
    while flock(folder.number, LOCK_EX | LOCK_NB) != 0 {
      if errno == EINTR { continue }
      guard errno == EWOULDBLOCK else { break }
      let owner = FolderLocks.owner(of: identity)
      throw CustodyError(
        "watch the inbox", path,
        reason: owner.map { "process \($0) watches it" } ?? "another process watches it",
        advice: owner.map { "kill \($0) ends that watch" } ?? "end that watch first")
    }
    // Locked first, then looked around: of two that begin at once, at least one sees the other.
    if let other = NestedWatches.first(near: folder, path: path) {
      throw CustodyError(
        "watch the inbox", path, reason: "process \(other.process) watches \(other.place)",
        advice: "kill \(other.process) ends that watch, or watch a folder beside it")
    }
    self.identity = identity
    self.folder = folder
  }

  /// Whether this is the right to that folder, which may have come in the place of another.
  func isFor(_ other: borrowing Descriptor) -> Bool {
    (try? other.status()).map { FolderIdentity($0) } == identity
  }
}
