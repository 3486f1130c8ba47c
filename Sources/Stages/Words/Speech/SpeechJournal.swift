import PipelineModel
import Platform
import SoundEngine
import Speech

protocol SpeechProgress: Codable {
  /// 0 to 1.
  var share: Double { get }
}

/// Records progress in the stage's journal, and ends the work when the user stops it.
final class SpeechJournal<Progress: SpeechProgress> {
  private let context: StageContext
  private var lastNoted = ContinuousClock.now
  private var failure: SpoolError?

  /// The least time between two entries.
  private static var rhythm: Duration { .milliseconds(500) }

  init(_ context: StageContext) { self.context = context }

  /// The last entry of an earlier process; nil where there is none, or none that can be read.
  var lastProgress: Progress? {
    guard let note = try? context.journal.lastEntry() else { return nil }
    return try? Findings.decode(Progress.self, from: note.text)
  }

  /// Does work that records its progress. The last state is recorded when it ends early.
  func working<Result>(
    _ work: ((Progress) throws(SpeechError) -> Void) throws(SpeechError) -> Result
  ) throws(SpoolError) -> Result {
    do throws(SpeechError) {
      return try work(record)
    } catch {
      throw failure ?? SpoolError(error)
    }
  }

  private func record(_ progress: Progress) throws(SpeechError) {
    context.reportProgress(progress.share)
    do throws(SpoolError) {
      let isStopping = (try? context.stop.check()) == nil
      if isStopping || .now - lastNoted >= Self.rhythm {
        try keep(progress)
        lastNoted = .now
      }
      try context.stop.check()
    } catch {
      failure = error
      throw SpeechError(.stopping, on: "", why: "")
    }
  }

  private func keep(_ progress: Progress) throws(SpoolError) {
    guard let text = try? Findings.json(progress) else { return }
    try context.journal.record(text)
  }
}

extension SpoolError {
  /// An error of speech recognition, as the user sees it.
  init(_ error: SpeechError) {
    switch error.doing {
    case .library:
      self.init("cannot use \(error.subject)", reason: error.why, cause: .environment)
    case .model:
      self.init(
        "cannot load the acoustic model \(error.subject)", reason: error.why,
        advice: "apt install pocketsphinx-en-us, or name another model", cause: .environment)
    case .ownModel:
      self.init(
        "cannot load the acoustic model \(error.subject)", reason: error.why,
        advice:
          "set engine: pocketsphinx, which takes other kinds of model too, or name another model",
        cause: .environment)
    case .language:
      self.init(
        "cannot speak the language \(error.subject)", reason: error.why,
        advice:
          "espeak-ng \(option: "voices") lists the languages; or name a model and a dictionary")
    case .words: self.init("cannot look for \(error.subject)", reason: error.why)
    case .pronunciation: self.init("cannot pronounce \(error.subject)", reason: error.why)
    case .reading: self.init("cannot read \(error.subject)", reason: error.why)
    case .stopping: self = .cancelled
    }
  }
}
