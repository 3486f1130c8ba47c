import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization

/// An inbox and the folders for its results, and since when one of them is away or no receipt can
/// be signed. Meanwhile nothing is processed, because the results could not be written.
final class ResultFolders: Sendable {
  /// The folders for results and their purposes: `the output folder`.
  private let own: [(path: String, role: String)]
  private let others: [String]
  private let inbox: String
  private let store: DiskStore
  /// The mount points of the folders at their last use, stored across restarts: with its disk
  /// unmounted, a folder of the same name is another one. Nil for the root's disk.
  private let mountPoints: Mutex<[String: String]>
  private let receiptWriter: (any ReceiptWriter)?
  private let pause = Mutex<InboxReport.Pause?>(nil)

  /// - Parameters:
  ///   - settings: of an inbox whose folders exist now.
  ///   - store: knows the mount points of the folders' last use.
  ///   - receiptWriter: writes receipts; nil if none are written.
  init(
    of settings: InboxSettings, in store: DiskStore, receiptWriter: (any ReceiptWriter)?
  ) throws(SpoolError) {
    self.receiptWriter = receiptWriter
    self.store = store
    let folders =
      [settings.path, settings.out, settings.outbox] + settings.otherOutboxes
    var points: [String: String] = [:]
    for folder in folders {
      if settings.isAcceptingMounts {
        points[folder] = MountPoint.above(folder)
        try store.inboxes.remember(mountPoint: points[folder], ofFolder: folder)
      } else {
        points[folder] = try store.inboxes.mountPoint(ofFolder: folder)
      }
    }
    mountPoints = Mutex(points)
    inbox = settings.path
    own = [(settings.out, "the output folder"), (settings.outbox, "the outbox")]
    others = settings.otherOutboxes
    // Stored before anything is written into them.
    for folder in folders {
      _ = absence(of: folder)
      store.expect(mountPoint: mountPoints.withLock { $0[folder] }, above: folder)
    }
  }

  /// Why the inbox is not its former folder, in words; nil if it is.
  var inboxAbsence: String? { absence(of: inbox) }

  /// Since when and why the inbox pauses, as of the last check; nil if it does not.
  var lastPause: InboxReport.Pause? { pause.withLock { $0 } }

  /// Checks whether every result can be written. Blocks while a disk does not answer.
  /// - Parameter time: in seconds since 1970.
  /// - Returns: why the inbox pauses; nil if it does not.
  @discardableResult
  func look(at time: Double) -> InboxReport.Pause? {
    let found = trouble
    return pause.withLock { pause in
      pause = found.map { reason, advice in
        InboxReport.Pause(since: pause?.since ?? time, reason: reason, advice: advice)
      }
      return pause
    }
  }

  /// Why something cannot be used, in words, and what can be done.
  private typealias Trouble = (reason: String, advice: String)

  private var trouble: Trouble? {
    for (path, role) in [(inbox, "the inbox")] + own {
      let found = path == inbox ? diskTrouble(of: path) : trouble(of: path)
      if let found {
        return ("\(role) \(path) cannot be used: \(found.reason)", found.advice)
      }
    }
    return receiptWriter?.obstacle().map { error in
      (
        [error.message, error.reason].compactMap { $0 }.joined(separator: ": "),
        (error.advice.map { "\($0); " } ?? "") + "the watch goes on by itself"
      )
    }
  }

  /// Whether the inbox is its former folder, or an outbox is writable. A folder that is away must
  /// not be created elsewhere.
  func isReachable(_ folder: String) -> Bool {
    if folder == inbox { return inboxAbsence == nil }
    return !(own.map(\.path) + others).contains(folder) || trouble(of: folder) == nil
  }

  /// Why a folder is not writable now; nil if it is. Its disk may be unmounted, or be another
  /// machine's.
  private func trouble(of path: String) -> Trouble? {
    if let trouble = diskTrouble(of: path) { return trouble }
    do throws(SystemError) {
      try FileOperations.system.checkWritable(folder: path)
      return nil
    } catch {
      let advice =
        switch error.code {
        case EROFS:
          "let its disk be written to again, as with mount -o remount,rw "
            + ShellWords.line([MountPoint.above(path) ?? "/"])
        case EACCES, EPERM: "let this user write there"
        case ENOENT, ENOTDIR: "mount or make that folder again"
        default: "see to its disk"
        }
      return (error.words, "\(advice); the watch goes on by itself")
    }
  }

  /// That nothing is mounted where a folder's disk was; nil if it is.
  private func diskTrouble(of path: String) -> Trouble? {
    guard let absence = absence(of: path) else { return nil }
    let line = (try? store.inboxes.lastWatches())?[inbox] ?? "the watch's command"
    return (
      absence,
      "mount it again; the watch goes on by itself. Without that disk for good: end this watch, and "
        + "once \(line) \(option: .ignoreMounts)"
    )
  }

  /// Why a folder is not its former one, in words; nil if it is. Stores a new mount point. Blocks
  /// while a disk does not answer.
  private func absence(of folder: String) -> String? {
    let known = mountPoints.withLock { $0[folder] }
    if let absence = MountPoint.absence(of: known) { return absence }
    let present = MountPoint.above(folder)
    if let present, present != known {
      mountPoints.withLock { $0[folder] = present }
      store.expect(mountPoint: present, above: folder)
      // The next watch stores what could not be stored now.
      try? store.inboxes.remember(mountPoint: present, ofFolder: folder)
    }
    return nil
  }
}
