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
  /// The last entry of an earlier process; nil where there is none, or none that can be read.
  let lastProgress: Progress?
  private var lastNoted = ContinuousClock.now
  private var notedShare: Double
  private var reportedShare: Double

  /// The least time between two entries.
  private static var rhythm: Duration { .milliseconds(500) }

  init(_ context: StageContext) {
    self.context = context
    lastProgress = (try? context.journal.lastEntry()).flatMap {
      try? Findings.decode(Progress.self, from: $0.text)
    }
    notedShare = lastProgress?.share ?? 0
    reportedShare = notedShare
  }

  /// Records progress where there is some since the last entry, and that is old enough.
  ///
  /// - Throws: where the user stops the work.
  func record(_ progress: Progress) throws(SpoolError) {
    let share = progress.share
    if share != reportedShare {
      context.reportProgress(share)
      reportedShare = share
    }
    let isStopping = (try? context.check()) == nil
    if share != notedShare, isStopping || .now - lastNoted >= Self.rhythm,
      let text = try? Findings.json(progress)
    {
      try context.journal.record(text)
      notedShare = share
      lastNoted = .now
    }
    try context.check()
  }
}
