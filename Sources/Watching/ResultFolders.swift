internal import PipelineModel
internal import Synchronization

/// The folders that the results of an inbox go to, and since when one of them is away. As long as one
/// is, nothing is processed that could not be put anywhere.
final class ResultFolders: Sendable {
  private let own: [ResultFolder]
  private let others: [ResultFolder]
  private let pause = Mutex<InboxReport.Pause?>(nil)

  /// - Parameter settings: of the inbox, whose folders are there now.
  init(of settings: InboxSettings) {
    own = [
      ResultFolder(settings.out, role: "the output folder"),
      ResultFolder(settings.outbox, role: "the outbox"),
    ]
    others = settings.otherOutboxes.map { ResultFolder($0, role: "the outbox") }
  }

  /// Since when and why the inbox pauses; nil where it does not, as far as was looked.
  var lastPause: InboxReport.Pause? { pause.withLock { $0 } }

  /// Looks whether everything can be put where it belongs. Blocks where a disk does not answer.
  /// - Parameter time: in seconds since 1970.
  /// - Returns: why the inbox pauses; nil where it does not.
  @discardableResult
  func look(at time: Double) -> InboxReport.Pause? {
    let found = own.lazy.compactMap { folder in
      folder.trouble.map { "\(folder.role) \(folder.path) cannot be used: \($0)" }
    }.first
    return pause.withLock { pause in
      pause = found.map { reason in
        InboxReport.Pause(
          since: pause?.since ?? time, reason: reason,
          advice: "mount or make that folder again; the watch goes on by itself")
      }
      return pause
    }
  }

  /// Whether an outbox can be written to. One that is away must not be made anew where nobody reads
  /// it.
  func isReachable(_ outbox: String) -> Bool {
    (own + others).first { $0.path == outbox }.map { $0.trouble == nil } ?? true
  }
}
