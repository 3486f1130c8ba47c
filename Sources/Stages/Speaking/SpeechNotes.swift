import PipelineModel
import Speech

/// How far listening is.
protocol SpeechProgress: Codable {
  /// 0 to 1.
  var share: Double { get }
}

/// Notes how far the listening is, and ends it when the user asks to stop.
final class SpeechNotes<Progress: SpeechProgress> {
  private let context: StageContext
  private var lastNoted = ContinuousClock.now
  private var failure: StageError?

  /// The least time between two notes.
  private static var rhythm: Duration { .milliseconds(500) }

  init(_ context: StageContext) { self.context = context }

  /// What an earlier process noted; nil where there is nothing, or nothing that can be read.
  var lastProgress: Progress? {
    guard let note = try? context.journal.lastNote() else { return nil }
    return try? Findings.decode(Progress.self, from: note.text)
  }

  /// Does work that takes notes. The last state is noted when it ends early.
  func working<Result>(
    _ work: ((Progress) throws(SpeechError) -> Void) throws(SpeechError) -> Result
  ) throws(StageError) -> Result {
    do throws(SpeechError) {
      return try work(note)
    } catch {
      throw failure ?? StageError(error)
    }
  }

  private func note(_ progress: Progress) throws(SpeechError) {
    context.reportProgress(progress.share)
    do throws(StageError) {
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

  private func keep(_ progress: Progress) throws(StageError) {
    guard let text = try? Findings.json(progress) else { return }
    do throws(StoreError) { try context.journal.note(text) } catch { throw StageError(error) }
  }
}

extension StageError {
  /// A recogniser's trouble, as a stage's.
  init(_ error: SpeechError) {
    switch error.doing {
    case .library:
      self.init("cannot use \(error.subject)", reason: error.why, cause: .environment)
    case .model:
      self.init(
        "cannot load the acoustic model \(error.subject)", reason: error.why,
        advice: "apt install pocketsphinx-en-us, or name another model", cause: .environment)
    case .language:
      self.init(
        "cannot speak the language \(error.subject)", reason: error.why,
        advice: "espeak-ng --voices lists the languages; or name a model and a dictionary")
    case .words: self.init("cannot look for \(error.subject)", reason: error.why)
    case .pronunciation: self.init("cannot pronounce \(error.subject)", reason: error.why)
    case .reading: self.init("cannot read \(error.subject)", reason: error.why)
    case .stopping: self = .cancelled
    }
  }
}
