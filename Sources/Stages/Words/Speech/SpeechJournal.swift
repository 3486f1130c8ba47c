import PipelineModel
import Platform
import SoundEngine

protocol SpeechProgress: Codable {
  /// 0 to 1.
  var share: Double { get }
}

/// Records progress in the stage's journal, and ends the work when the user stops it: then too, the
/// last state is recorded.
final class SpeechJournal<Progress: SpeechProgress> {
  private let context: StageContext
  private var lastNoted = ContinuousClock.now

  /// The least time between two entries.
  private static var rhythm: Duration { .milliseconds(500) }

  init(_ context: StageContext) { self.context = context }

  /// The last entry of an earlier process; nil where there is none, or none that can be read.
  var lastProgress: Progress? {
    guard let note = try? context.journal.lastEntry() else { return nil }
    return try? Findings.decode(Progress.self, from: note.text)
  }

  /// Records progress where the last entry is old enough.
  ///
  /// - Throws: where the user stops the work.
  func record(_ progress: Progress) throws(SpoolError) {
    context.reportProgress(progress.share)
    let isStopping = (try? context.check()) == nil
    if isStopping || .now - lastNoted >= Self.rhythm, let text = try? Findings.json(progress) {
      try context.journal.record(text)
      lastNoted = .now
    }
    try context.check()
  }
}
