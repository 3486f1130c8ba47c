internal import Glibc

/// Which of inotify's numbers stands for which folder, and what its events mean for the inbox.
struct WatchedFolders {
  /// What an event asks for.
  enum Notice: Hashable {
    /// Look at what has this path now.
    case look(InboxPath)
    /// Somebody has written to what has this path: look at it.
    case written(InboxPath)
    /// Somebody who had it open for writing has closed it: look at it.
    case closed(InboxPath)
    /// A folder came: watch it and look through it.
    case folderCame(InboxPath)
    /// A folder left, with all that was in it.
    case folderLeft(InboxPath)
    /// The inbox itself was deleted, moved or unmounted.
    case inboxLeft
    /// Events were lost: look through everything.
    case overflow
  }

  private var folders: [CInt: InboxPath] = [:]
  private var watches: [InboxPath: CInt] = [:]

  /// How many folders are watched.
  var count: Int { folders.count }

  /// Whether a folder is watched.
  func contains(_ folder: InboxPath) -> Bool { watches[folder] != nil }

  /// The watched folders of which something holds. O(watched folders).
  func folders(where isMeant: (InboxPath) -> Bool) -> [InboxPath] { watches.keys.filter(isMeant) }

  /// Notes that a number stands for a folder; what either stood for before is forgotten. A folder
  /// that was moved unseen keeps its number.
  mutating func insert(_ watch: CInt, _ folder: InboxPath) {
    if let old = folders[watch], old != folder { watches[old] = nil }
    if let old = watches[folder], old != watch { folders[old] = nil }
    folders[watch] = folder
    watches[folder] = watch
  }

  /// Forgets a folder and all beneath it. O(watched folders).
  /// - Returns: their numbers.
  mutating func remove(within folder: InboxPath) -> [CInt] {
    let removed = watches.filter { $0.key.isWithin(folder) }
    for (path, watch) in removed {
      watches[path] = nil
      folders[watch] = nil
    }
    return Array(removed.values)
  }

  /// What an event means; nil where it means nothing, such as one of a folder that is forgotten.
  mutating func notice(of record: InotifyRecord) -> Notice? {
    if record.has(IN_Q_OVERFLOW) { return .overflow }
    guard let folder = folders[record.watch] else { return nil }
    if record.has(IN_IGNORED) || record.has(IN_UNMOUNT) {
      folders[record.watch] = nil
      watches[folder] = nil
      return folder == .inbox ? .inboxLeft : .folderLeft(folder)
    }
    guard let name = record.name else {
      // A folder beneath the inbox that left is told by the folder around it.
      let hasLeft = record.has(IN_DELETE_SELF) || record.has(IN_MOVE_SELF)
      return hasLeft && folder == .inbox ? .inboxLeft : nil
    }
    let path = folder.appending(name)
    guard record.has(IN_ISDIR) else {
      if record.has(IN_MODIFY) { return .written(path) }
      return record.has(IN_CLOSE_WRITE) ? .closed(path) : .look(path)
    }
    if record.has(IN_CREATE) || record.has(IN_MOVED_TO) { return .folderCame(path) }
    if record.has(IN_DELETE) || record.has(IN_MOVED_FROM) { return .folderLeft(path) }
    return nil
  }
}
