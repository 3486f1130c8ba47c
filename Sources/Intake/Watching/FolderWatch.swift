import Glibc
import Platform

/// Watches one inbox with all its folders: by the kernel's events, and by periodic scans for
/// changes without events.
///
/// It belongs to one thread and opens no file.
struct FolderWatch: ~Copyable {
  let path: String
  /// The names to ignore.
  let names: UntouchedNames
  var schedule: RescanSchedule
  /// The entries at the last scan.
  var known = DirectorySnapshot()
  /// Nil while it is unreachable.
  var inbox: InboxFolder?

  var inotify: Inotify? {
    didSet { eventDescriptor = inotify?.descriptor ?? -1 }
  }
  private var eventDescriptor: CInt = -1
  var watched = WatchedFolders()
  /// Folders that could not be listed or watched, each reported once.
  var troubled: Set<InboxPath> = []
  /// Files that have long been ignored for their names, by folder, as of the last scan.
  var overlooked: [InboxPath: IgnoredFiles] = [:]
  /// The last report of all of them.
  var toldOverlooked = IgnoredFiles()
  /// The age in nanoseconds at which an unchanged file counts among those.
  let overlookedAge: Int64
  private var isReportedLost = false
  private var lastTurn = Duration.zero
  private let absence: @Sendable () -> String?
  private var begun: (() -> Void)?
  private let wake: WakeUp

  /// The inbox need not exist yet.
  /// - Parameters:
  ///   - overlookedAge: the age at which a file that is ignored for its name is reported.
  ///   - absence: why the folder at that path is not the inbox; nil if it is.
  ///   - begun: called once, when the inbox is watched or found to be away.
  init(
    path: String, names: UntouchedNames, schedule: RescanSchedule = RescanSchedule(),
    overlookedAge: Duration = StabilityRules().overlookedPeriod,
    absence: @escaping @Sendable () -> String? = { nil }, begun: (() -> Void)? = nil, wake: WakeUp
  ) {
    self.begun = begun
    self.overlookedAge = Int64(overlookedAge / .nanoseconds(1))
    self.absence = absence
    self.path = path
    self.names = names
    self.schedule = schedule
    self.wake = wake
  }

  /// Waits for an event or a wake-up, at most for `limit`.
  mutating func wait(atMost limit: Duration) -> [InboxEvent] {
    // The first turn begins to watch, at once.
    let due = inbox == nil ? Self.checkPause : schedule.wait(at: MonotonicTime.now)
    sleep(lastTurn == .zero ? .zero : min(limit, due, Self.checkPause))
    // A writer causes an event for every piece: one check covers many.
    let pause = lastTurn + Self.leastPause - MonotonicTime.now
    if pause > .zero { usleep(UInt32(pause / .microseconds(1))) }
    lastTurn = MonotonicTime.now
    wake.settle()
    defer { begun.take()?() }
    var events: [InboxEvent] = []
    if inbox?.isInPlace == false { closeInbox() }
    if inbox == nil { find(&events) }
    guard inbox != nil else { return events }
    takeEvents(&events)
    if inbox != nil, schedule.isDue(at: MonotonicTime.now) { rescan(&events) }
    return events
  }

  /// Checks one path and records the result. Opens no file.
  /// - Returns: `found` or `gone`, changed or not; nil if the inbox is away, or the system fails.
  mutating func look(at path: InboxPath) -> InboxEvent? {
    guard inbox != nil else { return nil }
    do throws(SpoolError) {
      let stamp = try inbox?.stamp(of: path)
      _ = known.record(stamp, at: path)
      return stamp.map { .found(path, $0) } ?? .gone(path)
    } catch {
      return nil
    }
  }

  /// Nil while the inbox is away.
  func open(_ path: InboxPath) throws(SpoolError) -> ArrivedFile? {
    try inbox?.open(path)
  }

  /// The interval of checks that the inbox is still in place. No event reports the removal of a
  /// folder that is open, as here.
  private static let checkPause = Duration.seconds(1)

  /// The shortest time between two reads of the event queue.
  private static let leastPause = Duration.milliseconds(20)

  private func sleep(_ limit: Duration) {
    let (seconds, attoseconds) = max(.zero, limit).components
    // Rounded up: a wait that ends a little early would be followed by many short ones.
    let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    var polled = [pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)]
    // poll(2) ignores a negative descriptor.
    polled.append(pollfd(fd: eventDescriptor, events: Int16(POLLIN), revents: 0))
    _ = unsafe poll(&polled, nfds_t(polled.count), CInt(milliseconds))
  }

  /// Opens the inbox and an event queue for it.
  private mutating func find(_ events: inout [InboxEvent]) {
    do throws(SpoolError) {
      if let reason = absence() {
        throw SpoolError("open the inbox", path, reason: reason, kind: .missing)
      }
      inbox = try InboxFolder(at: path)
      inotify = try? Inotify()
      schedule.ask()
      if isReportedLost { events.append(.inboxBack) }
      isReportedLost = false
    } catch {
      if !isReportedLost { events.append(.inboxLost(error)) }
      isReportedLost = true
    }
  }

  /// Closes an inbox that has left its path. Its entries stay known: it may only be unmounted.
  private mutating func closeInbox() {
    inbox = nil
    inotify = nil
    watched = WatchedFolders()
    troubled = []
  }

  private mutating func takeEvents(_ events: inout [InboxEvent]) {
    var touched: [InboxPath] = []
    var writers: [InboxPath: InboxEvent] = [:]
    for record in inotify?.records() ?? [] {
      let event = watched.event(of: record)
      switch event {
      case .touched(let path): touched.append(path)
      case .written(let path), .closed(let path):
        touched.append(path)
        writers[path] = event
      case .folderCame(let path): folderCame(path, &events)
      case .folderLeft(let path): folderLeft(path, &events)
      case .writersLost:
        schedule.ask()
        writers = [:]
        events.append(.writersLost)
      case .inboxLeft:
        closeInbox()
        find(&events)
        return
      default: break
      }
    }
    // One check covers several events of a file.
    var seen: Set<InboxPath> = []
    for path in touched where seen.insert(path).inserted {
      guard let name = path.name,
        names.reason(for: name, in: path.folder, isFolder: false) == nil
      else { continue }
      do throws(SpoolError) {
        let stamp = try inbox?.stamp(of: path)
        // A folder has its own events.
        if stamp?.isFolder == true { continue }
        if let event = known.record(stamp, at: path) { events.append(event) }
        if let event = writers[path] { events.append(event) }
      } catch {
        schedule.ask()
      }
    }
  }
}

/// The kernel's event queue for watched folders.
struct Inotify: ~Copyable {
  private let queue: OpenFile
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init() throws(SystemError) {
    let number = try SystemError.check { inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC)) }
    queue = OpenFile(descriptor: number, path: "inotify")
  }

  /// The descriptor for poll(2).
  var descriptor: CInt { queue.descriptor }

  /// Watches an open folder; returns the same number if it is watched already.
  ///
  /// The folder is named by its descriptor, so that no link can replace it first.
  mutating func watch(_ folder: borrowing OpenFile) throws(SystemError) -> CInt {
    let path = "/proc/self/fd/\(folder.descriptor)"
    let number = queue.descriptor
    return try SystemError.check { unsafe inotify_add_watch(number, path, Self.interests) }
  }

  /// Stops watching a folder. Its last event is `IN_IGNORED`.
  mutating func unwatch(_ watch: CInt) { _ = inotify_rm_watch(queue.descriptor, watch) }

  /// The events since the last call, without waiting; a bounded number, so that a flood cannot hold
  /// the caller.
  mutating func records() -> [Record] {
    var records: [Record] = []
    while records.count < 4096 {
      let number = queue.descriptor
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe read(number, bytes.baseAddress, bytes.count)
      }
      guard count > 0 else { break }
      records += Record.records(in: buffer[..<count])
    }
    return records
  }

  /// Includes writes: a file that was written to and not closed has a writer, even where leases are
  /// refused.
  private static let interests =
    UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_MOVED_TO) | UInt32(IN_CREATE)
    | UInt32(IN_DELETE)
    | UInt32(IN_MOVED_FROM) | UInt32(IN_DELETE_SELF) | UInt32(IN_MOVE_SELF) | UInt32(IN_ONLYDIR)

  /// One event as inotify(7) reports it.
  struct Record: Hashable {
    /// The watched folder's number; -1 for events of the queue itself.
    let watch: CInt
    /// `IN_` bits.
    let mask: UInt32
    /// The name in the watched folder; nil for an event of the folder itself.
    let name: FileName?

    func has(_ bit: some BinaryInteger) -> Bool { mask & UInt32(truncatingIfNeeded: bit) != 0 }

    /// Parses the bytes of read(2) by offset: an event ends in a flexible array, which Swift does not
    /// import. A truncated event ends the list. O(n).
    static func records(in bytes: ArraySlice<UInt8>) -> [Record] {
      var records: [Record] = []
      var rest = bytes
      while rest.count >= headByteCount {
        let nameByteCount = Int(word(of: rest, at: 12))
        guard rest.count - headByteCount >= nameByteCount else { break }
        let name = rest.dropFirst(headByteCount).prefix(nameByteCount).prefix { $0 != 0 }
        records.append(
          Record(
            watch: CInt(bitPattern: word(of: rest, at: 0)), mask: word(of: rest, at: 4),
            name: FileName(bytes: Array(name))))
        rest = rest.dropFirst(headByteCount + nameByteCount)
      }
      return records
    }

    /// Four words: watch, mask, cookie, length of the name with its zeros.
    private static let headByteCount = 16

    /// A word in native byte order.
    private static func word(of bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32 {
      let start = bytes.startIndex + offset
      return unsafe bytes.withUnsafeBytes { buffer in
        unsafe buffer.loadUnaligned(fromByteOffset: start - bytes.startIndex, as: UInt32.self)
      }
    }
  }
}

/// The inbox's entries at the last scan: names and stamps only, so that 50,000 files take about 10
/// MB.
struct DirectorySnapshot {
  private var folders: [InboxPath: [FileName: FileStamp]] = [:]

  /// O(folders).
  var count: Int { folders.values.reduce(0) { $0 + $1.count } }

  /// Every file, in no order.
  var files: [(path: InboxPath, stamp: FileStamp)] {
    folders.flatMap { folder, files in files.map { (folder.appending($0.key), $0.value) } }
  }

  /// The number of known files in one folder. O(1).
  func count(in folder: InboxPath) -> Int { folders[folder]?.count ?? 0 }

  /// O(1).
  func stamp(of path: InboxPath) -> FileStamp? {
    path.name.flatMap { folders[path.folder]?[$0] }
  }

  /// O(1).
  func stamp(of name: FileName, in folder: InboxPath) -> FileStamp? { folders[folder]?[name] }

  /// Replaces a folder's entries. O(n).
  /// - Returns: what was added, changed or removed, by name.
  mutating func update(_ folder: InboxPath, to files: [FileName: FileStamp]) -> [InboxEvent] {
    let known = folders[folder] ?? [:]
    let found = files.filter { known[$0.key] != $0.value }
    // If every known name was found again, none was removed.
    let metCount = files.count - found.count(where: { known[$0.key] == nil })
    let gone = metCount == known.count ? [] : known.keys.filter { files[$0] == nil }
    folders[folder] = files
    return found.sorted { $0.key < $1.key }.map { .found(folder.appending($0.key), $0.value) }
      + gone.sorted().map { .gone(folder.appending($0)) }
  }

  /// Sets the entry of a path; nil for none. O(1).
  /// - Returns: the change, if any.
  mutating func record(_ stamp: FileStamp?, at path: InboxPath) -> InboxEvent? {
    guard let name = path.name, folders[path.folder]?[name] != stamp else { return nil }
    folders[path.folder, default: [:]][name] = stamp
    return stamp.map { .found(path, $0) } ?? .gone(path)
  }

  /// Removes a folder and all beneath it. O(folders + n).
  /// - Returns: what was removed.
  mutating func remove(within folder: InboxPath) -> [InboxEvent] {
    remove { $0.isWithin(folder) }
  }

  /// Removes the folders that are gone. O(folders + n).
  /// - Returns: what was removed.
  mutating func remove(where isGone: (InboxPath) -> Bool) -> [InboxEvent] {
    folders.keys.filter(isGone).flatMap { path in
      (folders.removeValue(forKey: path) ?? [:]).keys.map { .gone(path.appending($0)) }
    }
  }
}

/// Maps inotify's watch numbers to folders, and its events to what they mean for the inbox.
struct WatchedFolders {
  private var folders: [CInt: InboxPath] = [:]
  private var watches: [InboxPath: CInt] = [:]

  var count: Int { folders.count }

  func contains(_ folder: InboxPath) -> Bool { watches[folder] != nil }

  /// O(watched folders).
  func folders(where isMeant: (InboxPath) -> Bool) -> [InboxPath] { watches.keys.filter(isMeant) }

  /// Assigns a number to a folder, and drops the old assignments of both. A folder that was moved
  /// unseen keeps its number.
  mutating func insert(_ watch: CInt, _ folder: InboxPath) {
    if let old = folders[watch], old != folder { watches[old] = nil }
    if let old = watches[folder], old != watch { folders[old] = nil }
    folders[watch] = folder
    watches[folder] = watch
  }

  /// Removes a folder and all beneath it. O(watched folders).
  /// - Returns: their numbers.
  mutating func remove(within folder: InboxPath) -> [CInt] {
    let removed = watches.filter { $0.key.isWithin(folder) }
    for (path, watch) in removed {
      watches[path] = nil
      folders[watch] = nil
    }
    return Array(removed.values)
  }

  /// Nil if the event means nothing, such as one of a removed folder.
  mutating func event(of record: Inotify.Record) -> InboxEvent? {
    if record.has(IN_Q_OVERFLOW) { return .writersLost }
    guard let folder = folders[record.watch] else { return nil }
    if record.has(IN_IGNORED) || record.has(IN_UNMOUNT) {
      folders[record.watch] = nil
      watches[folder] = nil
      return folder == .inbox ? .inboxLeft : .folderLeft(folder)
    }
    guard let name = record.name else {
      // The parent folder reports a folder beneath the inbox that left.
      let hasLeft = record.has(IN_DELETE_SELF) || record.has(IN_MOVE_SELF)
      return hasLeft && folder == .inbox ? .inboxLeft : nil
    }
    let path = folder.appending(name)
    guard record.has(IN_ISDIR) else {
      if record.has(IN_MODIFY) { return .written(path) }
      return record.has(IN_CLOSE_WRITE) ? .closed(path) : .touched(path)
    }
    if record.has(IN_CREATE) || record.has(IN_MOVED_TO) { return .folderCame(path) }
    if record.has(IN_DELETE) || record.has(IN_MOVED_FROM) { return .folderLeft(path) }
    return nil
  }
}
