internal import Sidecars

extension Custody {
  /// Looks through the inbox for commands that are whole, for whoever has to know of them before
  /// anything is processed. O(n) for n files.
  ///
  /// A command is whole once it reads: no beginning of an object is an object. What does not read
  /// may still be on its way, and is left to the watcher, which has time. So is what lies in folders
  /// that cannot be looked through.
  /// - Returns: where each lies, and when it was issued, in seconds since 1970; in no order.
  public func wholeCommands(
    besides names: UntouchedNames = UntouchedNames()
  ) -> [(path: InboxPath, stamp: FileStamp, issuedAt: Double)] {
    guard isInPlace(inbox), let inbox = try? InboxFolder(at: inbox) else { return [] }
    var found: [(path: InboxPath, stamp: FileStamp, issuedAt: Double)] = []
    var folders = [InboxPath.inbox]
    while let folder = folders.popLast() {
      guard let opened = try? inbox.openFolder(folder) else { continue }
      let list = try? FolderListing(opened) { name, stamp in
        (stamp.map { $0.kind == .file && name.hasSuffix(CommandReading.ending) } ?? true)
          && names.reason(for: name, in: folder, isFolder: stamp == nil) == nil
      }
      guard let list else { continue }
      folders += list.folders.map { folder.appending($0) }
      for (name, stamp) in list.files {
        let path = folder.appending(name)
        // One that was decided and may stay where it is did not come again because the watch did.
        if isKnown(path, stamp) { continue }
        if let time = timeOfWholeCommand(at: path, stamp: stamp) {
          found.append((path, stamp, time))
        }
      }
    }
    return found
  }
}
