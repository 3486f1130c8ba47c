// glibc's structures count as those of whichever module was loaded first.
internal import Sidecars
internal import CPosix
internal import Glibc

extension FolderWatch {
  /// Looks through the whole inbox, and watches every folder that is not watched yet.
  mutating func rescan(_ events: inout [InboxEvent]) {
    let start = Moment.threadTime
    let met = lookThrough(.inbox, &events)
    // What could not be looked through is not gone.
    let closed = troubled
    let isGone: (InboxPath) -> Bool = { folder in
      !met.contains(folder) && !closed.contains { folder.isWithin($0) }
    }
    events += known.remove(where: isGone)
    for folder in watched.folders(where: isGone) { unwatch(folder) }
    overlooked = overlooked.filter { !isGone($0.key) }
    tellOverlooked(&events)
    let hasEvents = inotify != nil && watched.count >= met.count && inbox?.isRemote == false
    schedule.note(cost: Moment.threadTime - start, hasEvents: hasEvents, at: Moment.now)
  }

  /// Tells what is left alone for its name where that has changed.
  private mutating func tellOverlooked(_ events: inout [InboxEvent]) {
    var all = OverlookedFiles()
    for (_, files) in overlooked { all.add(files) }
    if all != toldOverlooked { events.append(.overlooked(all)) }
    toldOverlooked = all
  }

  /// A folder came, with whatever is in it already.
  mutating func folderCame(_ folder: InboxPath, _ events: inout [InboxEvent]) {
    guard let name = folder.name,
      names.reason(for: name, in: folder.folder, isFolder: true) == nil
    else { return }
    _ = lookThrough(folder, &events)
  }

  /// A folder left, with all that was in it.
  mutating func folderLeft(_ folder: InboxPath, _ events: inout [InboxEvent]) {
    unwatch(folder)
    events += known.remove(within: folder)
  }

  private mutating func unwatch(_ folder: InboxPath) {
    for watch in watched.remove(within: folder) { inotify?.unwatch(watch) }
    troubled = troubled.filter { !$0.isWithin(folder) }
  }

  /// Watches a folder and those beneath it, then lists them: in this order, so that what comes
  /// between the two is met twice rather than never.
  /// - Returns: the folders that were met.
  private mutating func lookThrough(
    _ folder: InboxPath, _ events: inout [InboxEvent]
  ) -> Set<InboxPath> {
    var met: Set<InboxPath> = []
    var waiting = [folder]
    while let next = waiting.popLast() {
      do throws(InboxError) {
        let folders = try listing(of: next, &events)
        met.insert(next)
        waiting += folders.map(next.appending)
      } catch {
        // It may have left since it was listed.
        if error.kind == .missing { continue }
        if troubled.insert(next).inserted { events.append(.trouble(error)) }
      }
    }
    return met
  }

  /// Watches one folder and takes over what it holds.
  /// - Returns: the folders in it.
  private mutating func listing(
    of folder: InboxPath, _ events: inout [InboxEvent]
  ) throws(InboxError) -> [FileName] {
    guard let opened = try inbox?.openFolder(folder) else { return [] }
    var watchTrouble: InboxError?
    if !watched.contains(folder), inotify != nil {
      do throws(SystemError) {
        if let watch = try inotify?.watch(opened) { watched.insert(watch, folder) }
      } catch {
        watchTrouble = InboxError("watch", folder.description, error)
      }
    }
    let list: FolderListing
    var overlooked = OverlookedFiles()
    var now = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
    let newest = Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec) - overlookedAge
    do throws(SystemError) {
      list = try FolderListing(opened, expectedCount: known.count(in: folder)) { name, stamp in
        // What is known was wanted before.
        if stamp != nil, known.stamp(of: name, in: folder) != nil { return true }
        guard names.reason(for: name, in: folder, isFolder: stamp == nil) != nil else {
          return true
        }
        if let stamp, stamp.kind == .file, stamp.changed <= newest,
          let reason = names.suspicion(of: name, in: folder)
        {
          overlooked.add(.init(path: folder.appending(name), reason: reason, since: stamp.changed))
        }
        return false
      }
    } catch {
      throw InboxError("look through", folder.description, error)
    }
    events += known.update(folder, to: list.files)
    self.overlooked[folder] = overlooked.count > 0 ? overlooked : nil
    if let watchTrouble {
      if troubled.insert(folder).inserted { events.append(.trouble(watchTrouble)) }
    } else {
      troubled.remove(folder)
    }
    return list.folders
  }
}
