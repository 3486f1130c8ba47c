internal import PipelineEngine
internal import PipelineModel
internal import Synchronization

/// An inbox, the folders that its results go to, and since when one of them is away, or no receipt can be
/// signed. As long as that is so, nothing is processed that could not be put anywhere.
final class ResultFolders: Sendable {
  private let own: [ResultFolder]
  private let others: [ResultFolder]
  private let inbox: String
  private let mounts: FolderMounts
  private let witness: (any RunWitness)?
  private let pause = Mutex<InboxReport.Pause?>(nil)

  /// - Parameters:
  ///   - settings: of the inbox, whose folders are there now.
  ///   - memory: knows where they lay when they were last used.
  ///   - witness: writes receipts; nil where nobody does.
  init(
    of settings: InboxSettings, memory: any MountMemory, witness: (any RunWitness)?
  ) throws(StoreError) {
    self.witness = witness
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

  /// Why the inbox is not the folder that it was, in words; nil where it is.
  var inboxAbsence: String? { mounts.absence(of: inbox) }

  /// Since when and why the inbox pauses; nil where it does not, as far as was looked.
  var lastPause: InboxReport.Pause? { pause.withLock { $0 } }

  /// Looks whether everything can be put where it belongs. Blocks where a disk does not answer.
  /// - Parameter time: in seconds since 1970.
  /// - Returns: why the inbox pauses; nil where it does not.
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
          + "(spool watch --ignore-mounts takes folders as they lie now)"
      )
    }
    return witness?.obstacle().map { error in
      (
        [error.message, error.reason].compactMap { $0 }.joined(separator: ": "),
        (error.advice.map { "\($0); " } ?? "") + "the watch goes on by itself"
      )
    }
  }

  /// Whether the inbox is the folder that it was, or an outbox can be written to. One that is away must
  /// not be made anew where nobody reads it.
  func isReachable(_ folder: String) -> Bool {
    if folder == inbox { return inboxAbsence == nil }
    return (own + others).first { $0.path == folder }.map { $0.trouble == nil } ?? true
  }
}
