import AudioModel
import DSP
import FoundationEssentials
import Synchronization

/// How far a search for a gain is: what one thread does, and another may note at any moment.
final class SearchStanding: Sendable {
  /// A search as text.
  struct Note: Codable, Hashable {
    /// The trials so far.
    let steps: LoudnessSteps
    /// What the trial under way has measured, in Base64.
    let history: String
  }

  private let state: Mutex<(LoudnessSteps, LoudnessHistory)?>

  /// A search that begins, or that goes on where an earlier process left it.
  init(resuming note: Note?) {
    var begun: (LoudnessSteps, LoudnessHistory)?
    if let note, let bytes = Data(base64Encoded: note.history),
      let history = try? LoudnessHistory(ProcessorSnapshot(bytes: Array(bytes)))
    {
      begun = (note.steps, history)
    }
    state = Mutex(begun)
  }

  /// The trials so far, and what the one under way has measured; nil before the first.
  var latest: (LoudnessSteps, LoudnessHistory)? { state.withLock { $0 } }

  /// Takes up how far the search is.
  func note(_ steps: LoudnessSteps, _ history: LoudnessHistory) {
    state.withLock { $0 = (steps, history) }
  }

  /// The search as text; nil before the first trial.
  var text: Note? {
    latest.map { steps, history in
      Note(steps: steps, history: Data(history.snapshot.bytes).base64EncodedString())
    }
  }
}
