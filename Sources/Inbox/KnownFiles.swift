internal import Sidecars

/// What was in the inbox at the last look: names and stamps, no more, so that 50,000 files take
/// about 10 MB.
struct KnownFiles {
  private var folders: [InboxPath: [FileName: FileStamp]] = [:]

  /// How many files are known. O(folders).
  var count: Int { folders.values.reduce(0) { $0 + $1.count } }

  /// Every file, in no order.
  var files: [(path: InboxPath, stamp: FileStamp)] {
    folders.flatMap { folder, files in files.map { (folder.appending($0.key), $0.value) } }
  }

  /// How many files are known of one folder. O(1).
  func count(in folder: InboxPath) -> Int { folders[folder]?.count ?? 0 }

  /// What is known under a path. O(1).
  func stamp(of path: InboxPath) -> FileStamp? {
    path.name.flatMap { folders[path.folder]?[$0] }
  }

  /// What is known under a name in a folder. O(1).
  func stamp(of name: FileName, in folder: InboxPath) -> FileStamp? { folders[folder]?[name] }

  /// Takes over what a folder holds now. O(n).
  /// - Returns: what came, changed or left, in the order of names.
  mutating func update(_ folder: InboxPath, to files: [FileName: FileStamp]) -> [InboxEvent] {
    let known = folders[folder] ?? [:]
    let found = files.filter { known[$0.key] != $0.value }
    // Nothing can have left where every known name was met again.
    let metCount = files.count - found.count(where: { known[$0.key] == nil })
    let gone = metCount == known.count ? [] : known.keys.filter { files[$0] == nil }
    folders[folder] = files
    return found.sorted { $0.key < $1.key }.map { .found(folder.appending($0.key), $0.value) }
      + gone.sorted().map { .gone(folder.appending($0)) }
  }

  /// Takes over what has a path now; nil for nothing. O(1).
  /// - Returns: what that changes, if anything.
  mutating func note(_ stamp: FileStamp?, at path: InboxPath) -> InboxEvent? {
    guard let name = path.name, folders[path.folder]?[name] != stamp else { return nil }
    folders[path.folder, default: [:]][name] = stamp
    return stamp.map { .found(path, $0) } ?? .gone(path)
  }

  /// Forgets a folder and all beneath it. O(folders + n).
  /// - Returns: what left with it.
  mutating func remove(within folder: InboxPath) -> [InboxEvent] {
    remove { $0.isWithin(folder) }
  }

  /// Forgets the folders that are gone. O(folders + n).
  /// - Returns: what left with them.
  mutating func remove(where isGone: (InboxPath) -> Bool) -> [InboxEvent] {
    folders.keys.filter(isGone).flatMap { path in
      (folders.removeValue(forKey: path) ?? [:]).keys.map { .gone(path.appending($0)) }
    }
  }
}
