import CPosix
import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Store
import Synchronization

/// An inbox and the folders for its results, and since when one of them is away or no receipt can
/// be signed. Meanwhile nothing is processed, because the results could not be written.
final class ResultFolders: Sendable {
  private let own: [ResultFolder]
  private let others: [ResultFolder]
  private let inbox: String
  private let mounts: FolderMounts
  private let receiptWriter: (any ReceiptWriter)?
  private let pause = Mutex<InboxReport.Pause?>(nil)

  /// - Parameters:
  ///   - settings: of an inbox whose folders exist now.
  ///   - memory: the mount points of the folders' last use.
  ///   - receiptWriter: writes receipts; nil if none are written.
  init(
    of settings: InboxSettings, memory: InboxTable, receiptWriter: (any ReceiptWriter)?
  ) throws(SpoolError) {
    self.receiptWriter = receiptWriter
    let mounts = try FolderMounts(
      of: [settings.path, settings.out, settings.outbox] + settings.otherOutboxes, memory: memory,
      isAccepting: settings.isAcceptingMounts)
    self.mounts = mounts
    inbox = settings.path
    own = [
      ResultFolder(settings.out, role: "the output folder", mounts: mounts),
      ResultFolder(settings.outbox, role: "the outbox", mounts: mounts),
    ]
    others = settings.otherOutboxes.map {
      ResultFolder($0, role: "the outbox", mounts: mounts)
    }
  }

  /// Why the inbox is not its former folder, in words; nil if it is.
  var inboxAbsence: String? { mounts.absence(of: inbox) }

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

  private var trouble: (reason: String, advice: String)? {
    let absence =
      inboxAbsence.map { "the inbox \(inbox) cannot be used: \($0)" }
      ?? own.lazy.compactMap { folder in
        folder.trouble.map { "\(folder.role) \(folder.path) cannot be used: \($0)" }
      }.first
    if let absence {
      return (
        absence,
        "mount or make that folder again; the watch goes on by itself "
          + "(\(command: .watch) \(option: .ignoreMounts) takes folders as they lie now)"
      )
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
    return (own + others).first { $0.path == folder }.map { $0.trouble == nil } ?? true
  }
}

/// A folder for results. Its disk may be unmounted, or be another machine's.
struct ResultFolder: Sendable {
  /// An absolute path without links.
  let path: String
  /// Its purpose: `the output folder`.
  let role: String
  private let mounts: FolderMounts

  init(_ path: String, role: String, mounts: FolderMounts) {
    self.path = path
    self.role = role
    self.mounts = mounts
  }

  /// Why it is not writable now, in words; nil if it is.
  var trouble: String? {
    if let absence = mounts.absence(of: path) { return absence }
    let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return Self.words(errno) }
    defer { close(folder) }
    var entry = statvfs()
    guard unsafe fstatvfs(folder, &entry) == 0 else { return Self.words(errno) }
    if entry.f_flag & UInt(ST_RDONLY) != 0 { return Self.words(EROFS) }
    guard unsafe access(path, W_OK | X_OK) == 0 else { return Self.words(errno) }
    return nil
  }

  private static func words(_ code: CInt) -> String { unsafe String(cString: strerror(code)) }
}

/// The disks of an inbox's folders, stored across restarts: with the disk unmounted, a folder of
/// the same name is another one.
final class FolderMounts: Sendable {
  private let memory: InboxTable
  private let points: Mutex<[String: String]>

  /// Compares the folders' mount points at their last use with those of now. Blocks while a disk
  /// does not answer.
  /// - Parameters:
  ///   - folders: absolute paths without links.
  ///   - isAccepting: whether to accept the folders where they are now.
  init(
    of folders: [String], memory: InboxTable, isAccepting: Bool
  ) throws(SpoolError) {
    self.memory = memory
    var points: [String: String] = [:]
    for folder in folders {
      if isAccepting {
        points[folder] = MountPoint.above(folder)
        try memory.remember(mountPoint: points[folder], ofFolder: folder)
      } else {
        points[folder] = try memory.mountPoint(ofFolder: folder)
      }
    }
    self.points = Mutex(points)
    // Stored before anything is written into them.
    for folder in folders { _ = absence(of: folder) }
  }

  /// Why a folder is not its former one, in words; nil if it is. Stores a new mount point. Blocks
  /// while a disk does not answer.
  func absence(of folder: String) -> String? {
    let known = points.withLock { $0[folder] }
    if let known, !MountPoint.isMounted(known) {
      return "nothing is mounted on \(known), where its disk was"
    }
    let present = MountPoint.above(folder)
    if let present, present != known {
      points.withLock { $0[folder] = present }
      // The next watch stores what could not be stored now.
      try? memory.remember(mountPoint: present, ofFolder: folder)
    }
    return nil
  }
}

enum MountPoint {
  /// The innermost mount point at or above a folder; nil on the root's disk. O(folders above), with
  /// a system call each: blocks while a disk does not answer.
  /// - Parameter path: absolute and free of links.
  static func above(_ path: String) -> String? {
    var names = path.split(separator: "/")
    while !names.isEmpty {
      let folder = "/" + names.joined(separator: "/")
      if isMounted(folder) { return folder }
      names.removeLast()
    }
    return nil
  }

  /// Whether a folder and its parent are on different disks.
  static func isMounted(_ folder: String) -> Bool {
    var own = stat()
    var parent = stat()
    guard unsafe stat(folder, &own) == 0, unsafe stat(folder + "/..", &parent) == 0 else {
      return false
    }
    return own.st_dev != parent.st_dev
  }
}
