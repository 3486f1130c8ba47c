internal import PipelineModel
internal import Synchronization

/// A little room on the disk, kept for the last word of the runs under way: on a full disk there would
/// be none left to record that a run has paused, and it would look as if it had been killed.
final class DiskReserve: Sendable {
  private struct State: ~Copyable {
    var file: OpenFile?
    var runs: Set<RunID> = []
  }

  /// Enough for a run's row, its record and a line of the ledger.
  static let byteCount = 256 << 10

  private let state = Mutex(State())
  private let drafts: DraftFolder

  init(in drafts: DraftFolder) { self.drafts = drafts }

  deinit { giveUp() }

  /// Keeps room until this run has ended. Where there is none, nothing is kept.
  func keep(for run: RunID) {
    state.withLock { state in
      guard state.runs.insert(run).inserted, state.file == nil else { return }
      state.file = try? drafts.makeFile(filledTo: Self.byteCount)
    }
  }

  /// Gives the room back when the last of the runs has ended.
  func end(_ run: RunID) {
    let isLast = state.withLock { state in
      state.runs.remove(run)
      return state.runs.isEmpty
    }
    if isLast { giveUp() }
  }

  /// Gives the room to whoever needs it now.
  func giveUp() {
    state.withLock { state in
      if let file = state.file.take() { try? drafts.files.unlink(file.path) }
    }
  }
}
