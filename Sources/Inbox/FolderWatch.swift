internal import Glibc

/// Watches one inbox with all its folders: by the kernel's events, and by looking through it every
/// now and then for what those do not tell.
///
/// It belongs to one thread. Nothing that it does opens a file.
struct FolderWatch: ~Copyable {
  /// Where the inbox is.
  let path: String
  /// What is left alone.
  let names: UntouchedNames
  /// When the whole inbox is looked through.
  var schedule: RescanSchedule
  /// What was there at the last look.
  var known = KnownFiles()
  /// The open inbox; nil while it cannot be reached.
  var inbox: InboxFolder?

  var inotify: Inotify? {
    didSet { eventDescriptor = inotify?.descriptor ?? -1 }
  }
  private var eventDescriptor: CInt = -1
  var watched = WatchedFolders()
  /// Folders that could not be looked through or watched, each reported once.
  var troubled: Set<InboxPath> = []
  /// What is left alone for its name for too long, folder by folder, as of the last look.
  var overlooked: [InboxPath: OverlookedFiles] = [:]
  /// The same of all folders, as it was told last.
  var toldOverlooked = OverlookedFiles()
  /// After how many nanoseconds without a change a file counts among those.
  let overlookedAge: Int64
  private var isReportedLost = false
  private var lastTurn = Duration.zero
  private let absence: @Sendable () -> String?
  private let wake: WakeUp

  /// Makes a watch that has not looked yet; the inbox need not be there.
  /// - Parameters:
  ///   - overlookedAge: after how long a file that is left alone for its name is told.
  ///   - absence: why the folder at that path is not the inbox; nil where it is.
  init(
    path: String, names: UntouchedNames, schedule: RescanSchedule = RescanSchedule(),
    overlookedAge: Duration = SettlingRules().overlookedPeriod,
    absence: @escaping @Sendable () -> String? = { nil }, wake: WakeUp
  ) {
    self.overlookedAge = Int64(overlookedAge / .nanoseconds(1))
    self.absence = absence
    self.path = path
    self.names = names
    self.schedule = schedule
    self.wake = wake
  }

  /// Waits until something happens, for at most so long, or until somebody rings.
  mutating func wait(atMost limit: Duration) -> [InboxEvent] {
    let due = inbox == nil ? Self.checkPause : schedule.wait(at: Moment.now)
    sleep(min(limit, due, Self.checkPause))
    // A writer makes an event for every piece: many of them are one look.
    let pause = lastTurn + Self.leastPause - Moment.now
    if pause > .zero { usleep(UInt32(pause / .microseconds(1))) }
    lastTurn = Moment.now
    wake.settle()
    var events: [InboxEvent] = []
    if inbox?.isInPlace == false { letGo() }
    if inbox == nil { find(&events) }
    guard inbox != nil else { return events }
    takeEvents(&events)
    if inbox != nil, schedule.isDue(at: Moment.now) { rescan(&events) }
    return events
  }

  /// What a look at one path found.
  enum Look: Hashable {
    case there(FileStamp)
    case gone
    /// Neither is known: the inbox is away, or the system fails.
    case unreachable
  }

  /// Looks what has a path now, and takes that over as known. Nothing is opened.
  mutating func look(at path: InboxPath) -> Look {
    guard inbox != nil else { return .unreachable }
    let stamp: FileStamp?
    do throws(InboxError) {
      stamp = try inbox?.stamp(of: path)
    } catch {
      return .unreachable
    }
    _ = known.note(stamp, at: path)
    return stamp.map(Look.there) ?? .gone
  }

  /// Opens a file; nil while the inbox is away.
  func open(_ path: InboxPath) throws(InboxError) -> ArrivedFile? {
    try inbox?.open(path)
  }

  /// How often it is made sure that the inbox is where it was. No event tells that a folder was
  /// deleted while somebody, such as this watch, has it open.
  private static let checkPause = Duration.seconds(1)

  /// The shortest time between two looks at the kernel's line of events.
  private static let leastPause = Duration.milliseconds(20)

  private func sleep(_ limit: Duration) {
    let (seconds, attoseconds) = max(.zero, limit).components
    // Rounded up: a wait that ends a little early would be followed by many short ones.
    let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    var polled = [pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)]
    // poll(2) passes over a number below zero.
    polled.append(pollfd(fd: eventDescriptor, events: Int16(POLLIN), revents: 0))
    _ = unsafe poll(&polled, nfds_t(polled.count), CInt(milliseconds))
  }

  /// Opens the inbox, and a line of events for it.
  private mutating func find(_ events: inout [InboxEvent]) {
    do throws(InboxError) {
      if let reason = absence() {
        throw InboxError(.missing, "open the inbox", path, reason: reason)
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

  /// Lets go of an inbox that is no longer at its path. What was in it stays known: it may have
  /// been unmounted only.
  private mutating func letGo() {
    inbox = nil
    inotify = nil
    watched = WatchedFolders()
    troubled = []
  }

  private mutating func takeEvents(_ events: inout [InboxEvent]) {
    var touched: [InboxPath] = []
    var writers: [InboxPath: InboxEvent] = [:]
    for record in inotify?.records() ?? [] {
      switch watched.notice(of: record) {
      case .look(let path): touched.append(path)
      case .written(let path):
        touched.append(path)
        writers[path] = .written(path)
      case .closed(let path):
        touched.append(path)
        writers[path] = .closed(path)
      case .folderCame(let path): folderCame(path, &events)
      case .folderLeft(let path): folderLeft(path, &events)
      case .overflow:
        schedule.ask()
        writers = [:]
        events.append(.writersLost)
      case .inboxLeft:
        letGo()
        find(&events)
        return
      case nil: break
      }
    }
    // Several events of one file are one look.
    var seen: Set<InboxPath> = []
    for path in touched where seen.insert(path).inserted {
      guard let name = path.name,
        names.reason(for: name, in: path.folder, isFolder: false) == nil
      else { continue }
      do throws(InboxError) {
        let stamp = try inbox?.stamp(of: path)
        // A folder has events of its own.
        if stamp?.kind == .folder { continue }
        if let event = known.note(stamp, at: path) { events.append(event) }
        if let event = writers[path] { events.append(event) }
      } catch {
        schedule.ask()
      }
    }
  }
}
