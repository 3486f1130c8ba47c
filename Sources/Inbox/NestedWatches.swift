// glibc's structures count as those of whichever module was loaded first.
internal import CPosix
internal import Glibc
internal import Sidecars

/// Other watches at the same files: of a folder around an inbox, or of one in it. Each would take in
/// the same recordings.
enum NestedWatches {
  /// Somebody else's watch.
  struct Watch: Hashable {
    /// The process's number.
    let process: Int
    /// What it watches, and how that lies to the inbox.
    let place: String
  }

  /// The first that is found, the folders above before those below; nil where there is none, or where
  /// the system does not tell. O(files beneath the inbox).
  static func first(near inbox: borrowing Descriptor, path: String) -> Watch? {
    let locks = FolderLocks.text()
    return above(inbox, path, locks) ?? below(path, locks)
  }

  private static func above(
    _ inbox: borrowing Descriptor, _ path: String, _ locks: String
  ) -> Watch? {
    guard var last = (try? inbox.status()).map({ FolderIdentity($0) }) else { return nil }
    var way = ".."
    var names = path.split(separator: "/")
    while let folder = open(way, from: inbox.number), let status = try? folder.status() {
      let identity = FolderIdentity(status)
      // The root lies in itself.
      if identity == last { return nil }
      _ = names.popLast()
      if let process = owner(of: folder, identity, locks) {
        return Watch(
          process: process, place: "/\(names.joined(separator: "/")), which this one lies in")
      }
      (last, way) = (identity, way + "/..")
    }
    return nil
  }

  private static func below(_ path: String, _ locks: String) -> Watch? {
    guard let inbox = try? InboxFolder(at: path) else { return nil }
    var waiting = [InboxPath.inbox]
    while let next = waiting.popLast() {
      // What cannot be looked at here, the watch itself cannot take anything from either.
      guard let folder = try? inbox.openFolder(next), let status = try? folder.status() else {
        continue
      }
      if next != .inbox, let process = owner(of: folder, FolderIdentity(status), locks) {
        return Watch(
          process: process, place: "\(PathText.join(path, next.description)), which lies in it")
      }
      guard let list = try? FolderListing(folder, isWanted: { _, stamp in stamp == nil }) else {
        continue
      }
      waiting += list.folders.map(next.appending)
    }
    return nil
  }

  /// Who has locked a folder. The kernel's list may know another folder of the same number, so a
  /// lock that it names is tried.
  private static func owner(
    of folder: borrowing Descriptor, _ identity: FolderIdentity, _ locks: String
  ) -> Int? {
    guard let process = FolderLocks.owner(of: identity, in: locks) else { return nil }
    guard flock(folder.number, LOCK_SH | LOCK_NB) != 0 else {
      flock(folder.number, LOCK_UN)
      return nil
    }
    return errno == EWOULDBLOCK ? process : nil
  }

  private static func open(_ way: String, from folder: CInt) -> Descriptor? {
    let number = unsafe openat(folder, way, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return number < 0 ? nil : Descriptor(number)
  }
}
