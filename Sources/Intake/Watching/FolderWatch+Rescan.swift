import Platform

extension FolderWatch {
  /// Scans the whole inbox, and watches every new folder.
  mutating func rescan(_ events: inout [InboxEvent]) {
    let start = MonotonicTime.threadTime
    let met = lookThrough(.inbox, &events)
    // Unreadable is not gone.
    let closed = troubled
    let isGone: (InboxPath) -> Bool = { folder in
      !met.contains(folder) && !closed.contains { folder.isWithin($0) }
    }
    events += known.remove(where: isGone)
    for folder in watched.folders(where: isGone) { unwatch(folder) }
    overlooked = overlooked.filter { !isGone($0.key) }
    tellOverlooked(&events)
    let hasEvents = inotify != nil && watched.count >= met.count && inbox?.isRemote == false
    schedule.record(
      cost: MonotonicTime.threadTime - start, hasEvents: hasEvents, at: MonotonicTime.now)
  }

  /// Reports the ignored files if they have changed.
  private mutating func tellOverlooked(_ events: inout [InboxEvent]) {
    var all = IgnoredFiles()
    for (_, files) in overlooked { all.add(files) }
    if all != toldOverlooked { events.append(.overlooked(all)) }
    toldOverlooked = all
  }

  /// A folder appeared, possibly with files.
  mutating func folderCame(_ folder: InboxPath, _ events: inout [InboxEvent]) {
    guard let name = folder.name,
      names.reason(for: name, in: folder.folder, isFolder: true) == nil
    else { return }
    _ = lookThrough(folder, &events)
  }

  mutating func folderLeft(_ folder: InboxPath, _ events: inout [InboxEvent]) {
    events += troubled.filter { $0.isWithin(folder) }.map { .gone($0) }
    unwatch(folder)
    events += known.remove(within: folder)
  }

  private mutating func unwatch(_ folder: InboxPath) {
    for watch in watched.remove(within: folder) { inotify?.unwatch(watch) }
    troubled = troubled.filter { !$0.isWithin(folder) }
  }

  /// Watches a folder and those beneath it, then lists them: in this order, so that an entry that
  /// appears in between is seen twice rather than never.
  /// - Returns: the folders found.
  private mutating func lookThrough(
    _ folder: InboxPath, _ events: inout [InboxEvent]
  ) -> Set<InboxPath> {
    var met: Set<InboxPath> = []
    var waiting = [folder]
    while let next = waiting.popLast() {
      do throws(SpoolError) {
        let folders = try listing(of: next, &events)
        met.insert(next)
        waiting += folders.map(next.appending)
      } catch {
        // It may have been removed after it was listed.
        if error.kind == .missing { continue }
        guard troubled.insert(next).inserted else { continue }
        events.append(next == .inbox ? .trouble(error) : .refused(next, error))
      }
    }
    return met
  }

  /// Watches one folder and records its entries.
  /// - Returns: the folders in it.
  private mutating func listing(
    of folder: InboxPath, _ events: inout [InboxEvent]
  ) throws(SpoolError) -> [FileName] {
    guard let opened = try inbox?.openFolder(folder) else { return [] }
    var watchTrouble: SpoolError?
    if !watched.contains(folder), inotify != nil {
      do throws(SystemError) {
        if let watch = try inotify?.watch(opened) { watched.insert(watch, folder) }
      } catch {
        watchTrouble = SpoolError("watch", folder.description, error)
      }
    }
    let list: FolderListing
    var overlooked = IgnoredFiles()
    let newest = Clock.now() - overlookedAge
    do throws(SystemError) {
      list = try FolderListing(opened, expectedCount: known.count(in: folder)) { name, stamp in
        // A known name was wanted before.
        if stamp != nil, known.stamp(of: name, in: folder) != nil { return true }
        guard names.reason(for: name, in: folder, isFolder: stamp == nil) != nil else {
          return true
        }
        if let stamp, stamp.isRegularFile, stamp.changed <= newest,
          let reason = names.suspicion(of: name, in: folder)
        {
          overlooked.add(.init(path: folder.appending(name), reason: reason, since: stamp.changed))
        }
        return false
      }
    } catch {
      throw SpoolError("look through", folder.description, error)
    }
    events += known.update(folder, to: list.files)
    self.overlooked[folder] = overlooked.count > 0 ? overlooked : nil
    if let watchTrouble {
      if troubled.insert(folder).inserted { events.append(.trouble(watchTrouble)) }
    } else if troubled.remove(folder) != nil, folder != .inbox {
      events.append(.gone(folder))
    }
    return list.folders
  }
}

/// When the whole inbox is scanned again.
///
/// Events report all local changes, so that scans are a precaution; without events they find
/// everything. A scan costs processor time per file, so its rate is bounded by a fixed share of one
/// core.
struct RescanSchedule {
  /// Between scans with events.
  var pause = Duration.seconds(60)
  /// Between scans without events: on network mounts, or with a folder that cannot be watched.
  var pauseWithoutEvents = Duration.seconds(2)
  /// The share of one core for scans.
  var share = 0.0025

  private var next = Duration.zero

  /// The first scan is due at once.
  init() {}

  func isDue(at now: Duration) -> Bool { now >= next }

  func wait(at now: Duration) -> Duration { max(.zero, next - now) }

  mutating func ask() { next = .zero }

  /// Records the end of a scan and its processor time.
  mutating func record(cost: Duration, hasEvents: Bool, at now: Duration) {
    next = now + max(hasEvents ? pause : pauseWithoutEvents, cost / share)
  }
}
