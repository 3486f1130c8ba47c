internal import PipelineModel
internal import Synchronization

/// Reserved space for the last record of the runs in progress: on a full disk a pause could not be
/// recorded, and the run would look killed.
final class DiskReserve: Sendable {
  private struct State: ~Copyable {
    var file: OpenFile?
    var runs: Set<RunID> = []
  }

  /// Enough for a run's row, its record and a line of the change log.
  static let byteCount = 256 << 10

  private let state = Mutex(State())
  private let drafts: DraftFolder

  init(in drafts: DraftFolder) { self.drafts = drafts }

  deinit { giveUp() }

  /// Reserves space until this run ends, if there is any.
  func keep(for run: RunID) {
    state.withLock { state in
      guard state.runs.insert(run).inserted, state.file == nil else { return }
      state.file = try? drafts.makeFile(filledTo: Self.byteCount)
    }
  }

  /// Frees the space when the last run ends.
  func end(_ run: RunID) {
    let isLast = state.withLock { state in
      state.runs.remove(run)
      return state.runs.isEmpty
    }
    if isLast { giveUp() }
  }

  /// Frees the space now.
  func giveUp() {
    state.withLock { state in
      if let file = state.file.take() { try? drafts.files.unlink(file.path) }
    }
  }
}
